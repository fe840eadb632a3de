package offline_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/skills/offline"
	"example.com/ragflow/state"
)

// listed are passages in the order of a search, each scored a little less than
// the one before.
func listed(texts ...string) []state.Source {
	var out []state.Source
	for i, s := range texts {
		id := string(rune('a' + i))
		out = append(out, state.Source{Chunk: state.Chunk{ID: id, Source: id, Text: s, Ordinal: 1}, Score: 10 - 0.1*float64(i)})
	}
	return out
}

func order(sources []state.Source) string {
	var ids []string
	for _, s := range sources {
		ids = append(ids, s.ID)
	}
	return strings.Join(ids, "")
}

// REQUIREMENTS K01, K02: what is put in order is scored within 0 and 1.
func TestListReranker(t *testing.T) {
	scattered := "A tank is cleaned in spring. Water is dear. The level of noise is low. A gauge tells the time."
	together := "Birds sing. The water level of the tank is read from the gauge. Trees grow."
	for _, tt := range []struct {
		name, query, want string
		found             []state.Source
	}{
		{"words in one sentence, side by side", "water level of the tank", "ba", listed(scattered, together)},
		{"a number of the question", "error 4711 of the pump", "ba", listed("Error 4712 of the pump is a leak.", "Error 4711 of the pump is a blockage.")},
		{"two words may name a page", "water tank", "ab", listed(scattered, together)},
		{"nothing tells them apart", "water gauge noise", "abc", listed(together, together, together)},
		{"no word to look for", "the of", "ab", listed(scattered, together)},
		{"nothing was found", "water", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := offline.NewListReranker(docs())
			given := slices.Clone(tt.found)
			got, err := r.Rerank(t.Context(), []state.Query{{Text: tt.query, Weight: 1}}, tt.found)
			if err != nil || order(got) != tt.want {
				t.Errorf("order %q, %v; want %q", order(got), err, tt.want)
			}
			if diff := cmp.Diff(given, tt.found); diff != "" {
				t.Errorf("it wrote to what it was given: %s", diff)
			}
			sum := 0.0
			for _, s := range got {
				sum += s.Score
				if !(s.Score > 0 && s.Score <= 1) {
					t.Errorf("%s scores %v, want above 0 up to 1", s.ID, s.Score)
				}
			}
			if len(got) > 0 && math.Abs(sum-1) > 1e-9 {
				t.Errorf("the chances sum to %v, want 1", sum)
			}
		})
	}
}

func ExampleListReranker() {
	r := offline.NewListReranker(docs())
	found := listed(
		"A volume is removed with a command. Back up what it holds before.",
		"Data live in volumes. To back up such a volume, write an archive.",
	)
	ranked, err := r.Rerank(context.Background(), []state.Query{{Text: "how to back up a volume", Weight: 1}}, found)
	for _, s := range ranked {
		fmt.Printf("%s %.1f %v\n", s.ID, s.Score, err)
	}
	// Output:
	// b 0.7 <nil>
	// a 0.3 <nil>
}

// even is an index in which all words are equally common.
type even struct{ library }

func (even) Docs() int { return 1000 }

func (even) DocFreq(string) int { return 10 }

// BenchmarkListReranker puts a list in order whose passages were read before, and
// one whose passages are new.
func BenchmarkListReranker(b *testing.B) {
	var texts []string
	for i := range 20 {
		var s strings.Builder
		for j := range 12 {
			fmt.Fprintf(&s, "The container %d writes to volume %d, which is backed up once a day by another one. ", i, j)
		}
		texts = append(texts, s.String())
	}
	found := listed(texts...)
	queries := []state.Query{{Text: "How do I back up a volume that two containers use at once?", Weight: 1}}
	for _, bm := range []struct {
		name string
		make func() *offline.ListReranker
	}{
		{"new", func() *offline.ListReranker { return offline.NewListReranker(even{}) }},
		{"read before", sync.OnceValue(func() *offline.ListReranker { return offline.NewListReranker(even{}) })},
	} {
		b.Run(bm.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := bm.make().Rerank(b.Context(), queries, found); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Code that tests stands behind the code that it tests, for an answer and in a list,
// unless tests are asked for; examples and pages about tests stay.
func TestTestsStandBehind(t *testing.T) {
	for _, tt := range []struct {
		query, source, language string
		behind                  bool
	}{
		{"level of the water tank", "pump/tests/tank.py", "python", true},
		{"level of the water tank", "pump/test_tank.py", "python", true},
		{"level of the water tank", "pump/tank_test.go", "go", true},
		{"level of the water tank", "src/tank.spec.ts", "typescript", true},
		{"level of the water tank", "src/TankTest.java", "java", true},
		{"level of the water tank", "src/latest.java", "java", false},
		{"level of the water tank", "pump/example_tank_test.go", "go", false},
		{"level of the water tank", "tests/tank.md", "", false},
		{"how is the level of the water tank tested", "pump/tank_test.go", "go", false},
	} {
		found := listed("The level of the water tank is 4.", "The level of the water tank is 5.")
		found[0].Source, found[0].Cut.Language = tt.source, tt.language
		want := "ab"
		if tt.behind {
			want = "ba"
		}
		queries := []state.Query{{Text: tt.query, Weight: 1}}
		for _, r := range []interface {
			Rerank(ctx context.Context, queries []state.Query, candidates []state.Source) ([]state.Source, error)
		}{offline.NewListReranker(docs()), offline.NewReranker(docs())} {
			if got, err := r.Rerank(t.Context(), queries, found); err != nil || order(got) != want {
				t.Errorf("%q, %s: %T gives %q, %v, want %q", tt.query, tt.source, r, order(got), err, want)
			}
		}
	}
}
