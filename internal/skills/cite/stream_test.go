package cite_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/state"
)

// TestStream checks where the parts of an answer end. "·" stands behind the character that
// shows the end of a part.
func TestStream(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, answer string
		want         []string
	}{
		{"sentences", "It stops. T·hen it starts! D·oes it?", []string{"It stops.", "Then it starts!", "Does it?"}},
		{"marks behind", "It stops. [Source 1] T·hen [Source 2] it starts [Source 1].", []string{"It stops. [Source 1]", "Then [Source 2] it starts [Source 1]."}},
		{"two marks", "It stops. [Source 1] [Source 2], T·hen.", []string{"It stops. [Source 1] [Source 2]", ", Then."}},
		{"no mark", "It stops. [This]· goes on.", []string{"It stops.", "[This] goes on."}},
		{"mark of the next line", "It stops.\n[Source 1] T·hen it starts.", []string{"It stops.", "[Source 1] Then it starts."}},
		{"marks alone in a line", "It stops.\n\n[Source 1]\n\nT·hen.", []string{"It stops.\n\n[Source 1]", "Then."}},
		{"abbreviation", "Use a tool, e.g. Docker. N·ext.", []string{"Use a tool, e.g. Docker.", "Next."}},
		{"list", "Steps:\n\n-· one\n-· two\n3. t·hree", []string{"Steps:", "- one", "- two", "3. three"}},
		{"table", "| a | b |\n|---|---|\n| c | d |\n\nT·ext.", []string{"| a | b |\n|---|---|\n| c | d |", "Text."}},
		{"code", "Run:\n\n```sh\na. B\n\nc\n```\n\nT·ext.", []string{"Run:", "```sh\na. B\n\nc\n```", "Text."}},
		{"no blanks", "它停止。它·开始！", []string{"它停止。", "它开始！"}},
		{"an open block", "```\na. B\n\nc", []string{"```\na. B\n\nc"}},
		{"nothing", " \n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			whole := strings.ReplaceAll(tt.answer, "·", "")
			s := cite.NewStream([]state.Source{{Chunk: state.Chunk{Text: "It stops."}}}, cite.Options{Language: "en"})
			var got []string
			joined := ""
			take := func(parts []cite.Part) {
				for _, p := range parts {
					got, joined = append(got, p.Text), joined+p.Text+p.Gap
				}
			}
			for i := range len(whole) {
				take(s.Write(whole[i : i+1]))
			}
			take(s.Close())
			if diff := cmp.Diff(tt.want, got); diff != "" || strings.TrimSpace(joined) != strings.TrimSpace(whole) {
				t.Errorf("joined %q, parts (-want +got):\n%s", joined, diff)
			}
			// A part is there with the character before "·".
			s = cite.NewStream(nil, cite.Options{})
			n := 0
			for _, piece := range strings.Split(tt.answer, "·")[:strings.Count(tt.answer, "·")] {
				before := len(s.Write(piece))
				if n++; before == 0 {
					t.Errorf("after %q no part has ended", piece)
				}
			}
		})
	}
}

// TestReportsAddUp: the reports of the parts of an answer, denied or not, add up to that of
// the whole, and the report of a repaired answer is that of its check.
func TestReportsAddUp(t *testing.T) {
	t.Parallel()
	sources := []state.Source{{Chunk: state.Chunk{Text: "A volume outlives its container."}}, {Chunk: state.Chunk{Text: "Backups are kept for 14 days."}}}
	const answer = "A volume outlives its container. [Source 1] Backups are kept for 14 days. [Source 1] Backups are kept for 99 days. [Source 2]"
	o := cite.Options{Language: "en"}
	whole := cite.Check(answer, sources, o)
	var sum cite.Report
	s := cite.NewStream(sources, o)
	for _, p := range append(s.Write(answer), s.Close()...) {
		sum.Add(p.Report)
	}
	counts := func(r cite.Report) []float64 {
		return []float64{float64(r.Claims), float64(r.Grounded), r.Precision, r.Recall, r.Faithfulness}
	}
	if diff := cmp.Diff(counts(whole), counts(sum)); diff != "" {
		t.Errorf("counts (-whole +parts):\n%s", diff)
	}
	repaired := cite.Repair(answer, whole, cite.Fixing{Unsupported: "(unsupported)"})
	if diff := cmp.Diff(counts(cite.Check(repaired.Text, sources, o)), counts(repaired.Report)); diff != "" {
		t.Errorf("counts of %q (-check +repair):\n%s", repaired.Text, diff)
	}
	whole.Deny(0)
	if whole.Grounded != sum.Grounded-1 || whole.Sentences[0].Why == "" || cite.Repair(answer, whole, cite.Fixing{Unsupported: "(no)"}).Unsupported != 2 {
		t.Errorf("denied: %+v", whole)
	}
}
