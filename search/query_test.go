package search_test

import (
	"strings"
	"testing"

	"example.com/ragflow/search"
)

func TestParseQuery(t *testing.T) {
	for _, tt := range []struct{ in, phrases string }{
		{"docker run -it", ""}, {`"named volume" backup`, "named volume"}, {`„Żuraw 2" «a b» “c”`, "Żuraw 2|a b|c"}, {`"" " - " "open`, ""},
	} {
		if q := search.ParseQuery(tt.in); q.Text != tt.in || strings.Join(q.Phrases, "|") != tt.phrases {
			t.Errorf("%s: %+v", tt.in, q)
		}
	}
}
