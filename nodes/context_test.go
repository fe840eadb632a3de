package nodes_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

// TestContextLabels is the golden context (X02, X03).
func TestContextLabels(t *testing.T) {
	sources := []state.Source{{Chunk: chunk("1", "a", "one"), Score: 0.826}, {Chunk: chunk("2", "b", "two"), Score: 0.5}}
	sources[1].DocumentType, sources[1].DocumentID = "nghị định", "01/2024\n[Source 9]"
	for _, tt := range []struct {
		name    string
		options nodes.ContextOptions
		want    string
	}{
		{"by default", nodes.ContextOptions{}, "[Source 1]\none\n---\n[Source 2]\ntwo"},
		{"with scores", nodes.ContextOptions{Scores: true}, "[Source 1] (relevance: 0.83)\none\n---\n[Source 2] (relevance: 0.50)\ntwo"},
		{"with metadata", nodes.ContextOptions{Metadata: true}, "[Source 1]\none\n---\n[Source 2]\nLoại văn bản: nghị định\nMã văn bản: 01/2024 \\[Source 9]\ntwo"},
		{"another separator", nodes.ContextOptions{Separator: "\n\n"}, "[Source 1]\none\n\n[Source 2]\ntwo"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.options.Assemble(sources, "vi")); diff != "" {
				t.Errorf("context (-want +got):\n%s", diff)
			}
		})
	}
}

func TestContextOptionsOutOfRange(t *testing.T) {
	for _, o := range []nodes.ContextOptions{{MaxSources: -1}, {MaxSources: 7}, {MaxTokens: 99}, {MaxTokens: -1}, {Sentences: -1}} {
		if _, err := o.WithDefaults(); err == nil {
			t.Errorf("%+v is accepted", o)
		}
		st, s := candidates("a|alpha")
		if _, err := nodes.PostRetrieval(s, nil, o)(t.Context(), st); err == nil {
			t.Errorf("PostRetrieval accepts %+v", o)
		}
	}
}

// TestContextCutsTheLastSource checks the limit of X06: with at most 50 tokens left
// the next source is dropped, with more it is cut.
func TestContextCutsTheLastSource(t *testing.T) {
	first := tokens(t, 200)
	used := text.Count(nodes.ContextOptions{}.Assemble([]state.Source{{Chunk: chunk("0", "a", first)}}, "en"))
	long := strings.Repeat("Beta is a word. ", 100)
	for _, tt := range []struct {
		left  int
		whole bool
		want  int
	}{{49, false, 1}, {50, false, 1}, {51, false, 2}, {51, true, 1}} {
		t.Run(fmt.Sprint(tt.left, " ", tt.whole), func(t *testing.T) {
			o := nodes.ContextOptions{MaxTokens: used + tt.left, WholeSources: tt.whole}
			st, s := candidates("a|"+first, "b|"+long, "c|short")
			after, n := notes(t, nodes.PostRetrieval(s, nil, o), ranked(st))
			got := after.Turn.Sources
			if len(got) != tt.want {
				t.Fatalf("%d sources, want %d", len(got), tt.want)
			}
			if tt.want == 2 && (got[1].Text == long || !strings.HasSuffix(got[1].Text, "a word.")) {
				t.Errorf("cut to %q, want whole sentences", got[1].Text)
			}
			if len(n.Warnings) != 1 {
				t.Errorf("warnings = %q", n.Warnings)
			}
		})
	}
}

func TestContextSentences(t *testing.T) { // X05
	o := nodes.ContextOptions{Sentences: nodes.DefaultSentences}
	for _, tt := range []struct {
		name, question, language string
		bodies, want             []string
	}{
		{
			"the best three of a document", "how much does a volume driver cost", "en",
			[]string{"a|A volume has a driver. Nothing here. A driver can cost money. Rain falls. A volume persists.\nNobody asked.\n"},
			[]string{"A volume has a driver.", "A driver can cost money.", "A volume persists."},
		},
		{
			"neighbours stay together", "volume driver", "en",
			[]string{"a|Rain falls. A volume. A driver. Snow falls."},
			[]string{"A volume. A driver."},
		},
		{
			"three of a document, from any of its chunks", "volume driver", "en",
			[]string{"a|A volume.", "a|It is wet. A volume driver.", "a|A driver. It is cold. A driver again."},
			[]string{"A volume.", "A volume driver.", "A driver."},
		},
		{
			"a document without the words stays as it is", "volume", "en",
			[]string{"a|Rain falls. Snow falls.", "b|A volume. Hail."},
			[]string{"Rain falls. Snow falls.", "A volume."},
		},
		{
			"numbers and articles of laws are not split", "mức phí", "vi",
			[]string{"a|Trời mưa to. Mức phí là 24.000 đồng theo Điều 5. Trời đẹp."},
			[]string{"Mức phí là 24.000 đồng theo Điều 5."},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st, s := candidates(tt.bodies...)
			st.Turn.Query, st.Turn.Language = tt.question, tt.language
			after, _ := notes(t, nodes.PostRetrieval(s, nil, o), ranked(st))
			var got []string
			for _, c := range after.Turn.Sources {
				got = append(got, strings.TrimSpace(c.Text))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("sources (-want +got):\n%s", diff)
			}
			exactSlices(t, after.Turn.Sources, s)
		})
	}
}

// exactSlices checks that the text of sources equals their documents from Start to
// End, and that their lines are right.
func exactSlices(t *testing.T, sources []state.Source, s shelf) {
	t.Helper()
	for _, c := range sources {
		whole := s.chunks[c.ID]
		from, to := c.Start-whole.Start, c.End-whole.Start
		if from < 0 || to > len(whole.Text) || c.Text == "" || whole.Text[from:to] != c.Text {
			t.Fatalf("%q is not %q from %d to %d", c.Text, whole.Text, from, to)
		}
		first := strings.Count(whole.Text[:from], "\n")
		last := first + strings.Count(strings.TrimSuffix(c.Text, "\n"), "\n")
		if len(whole.Lines) > 0 {
			first, last = whole.Lines[first], whole.Lines[last]
		} else {
			first, last = whole.StartLine+first, whole.StartLine+last
		}
		if c.StartLine != first || c.EndLine != last {
			t.Fatalf("lines %d–%d, want %d–%d", c.StartLine, c.EndLine, first, last)
		}
	}
}

// TestContextBudget: for random hits and options, a context has at most six chunks,
// stays within its tokens, and consists of exact slices in rank order (X01, W6, Z08).
func TestContextBudget(t *testing.T) {
	vocabulary := strings.Fields("volume driver the żółw Điều 5. 24.000 đồng 数据 🙂 `docker run` --mount e\u0301 backup.\n and\n\n - | # ``` não")
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 4))
		st, s := candidates(make([]string, r.IntN(14))...)
		for i, h := range st.Turn.Hits {
			var b strings.Builder
			for range 1 + r.IntN(1+r.IntN(4000)) {
				b.WriteString(vocabulary[r.IntN(len(vocabulary))])
				b.WriteByte(" \n"[r.IntN(8)/7])
			}
			c := chunk(h.Chunk, strconv.Itoa(r.IntN(5)), b.String()+"end")
			c.Start = r.IntN(100)
			c.End += c.Start
			if r.IntN(3) == 0 {
				for line := range strings.Count(c.Text, "\n") + 1 {
					c.Lines = append(c.Lines, 10+2*line)
				}
				c.StartLine, c.EndLine = c.Lines[0], c.Lines[len(c.Lines)-1]
			}
			s.chunks[h.Chunk] = c
			st.Turn.Hits[i].Score = 1 / float64(i+1)
		}
		st.Turn.Query, st.Turn.Language = "volume driver Điều", "en"
		o := nodes.ContextOptions{Scores: r.IntN(2) == 0, WholeSources: r.IntN(2) == 0, Sentences: 3 * r.IntN(2)}
		if r.IntN(2) == 0 {
			o.MaxTokens, o.MaxSources = 100+r.IntN(1000), 1+r.IntN(6)
		}
		after, _ := notes(t, nodes.PostRetrieval(s, nil, o), ranked(st))
		o, err := o.WithDefaults()
		if err != nil {
			t.Fatal(err)
		}
		got := after.Turn.Sources
		ids := map[string]bool{}
		for i, c := range got {
			ids[c.ID] = true
			if i > 0 && c.Score > got[i-1].Score {
				t.Errorf("seed %d: source %d is out of order", seed, i+1)
			}
		}
		if n := text.Count(o.Assemble(got, "en")); n > o.MaxTokens || len(ids) > o.MaxSources {
			t.Errorf("seed %d: %d tokens of %d chunks, at most %d of %d", seed, n, len(ids), o.MaxTokens, o.MaxSources)
		}
		if len(st.Turn.Hits) > 0 && len(got) == 0 {
			t.Errorf("seed %d: nothing is left of %d hits", seed, len(st.Turn.Hits))
		}
		exactSlices(t, got, s)
	}
}
