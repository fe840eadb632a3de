package offline_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/state"
)

// TestBeside holds what stands beside the first statement of an answer: what may be the
// answer as well, and not what only stands near it.
func TestBeside(t *testing.T) {
	d := []state.Chunk{
		page("company", "Company", "Nordwind was founded by Ada Hill and Tom Reed in 1975. The company moved to Oslo in 1979. In 1986 its shares were sold."),
		page("lease", "Lease", "The tenant pays for small repairs up to 300 crowns. Other repairs the landlord pays for. Damage is reported within three days."),
		page("cold", "Cold", "The boiler stops because the pressure is low. Water has to be added then."),
	}
	for _, tt := range []struct {
		name     string
		source   state.Chunk
		question string
		want     string
	}{
		{"who", d[0], "Who founded Nordwind?", "Nordwind was founded by Ada Hill and Tom Reed in 1975. [Source 1]"},
		{"another case of the same", d[1], "Who pays for repairs?", "The tenant pays for small repairs up to 300 crowns. [Source 1] Other repairs the landlord pays for. [Source 1]"},
		{"a reason goes on", d[2], "Why does the boiler stop?", "The boiler stops because the pressure is low. [Source 1] Water has to be added then. [Source 1]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := answer(t, d, task(tt.question, 0.9, tt.source))
			if diff := cmp.Diff("From your documents:\n\n"+tt.want, got.Text); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
