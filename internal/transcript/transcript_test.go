package transcript_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/transcript"
	"example.com/ragflow/state"
)

// Each file in testdata contains the log of a run as run.json and its renderings.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			archive.Files = append(archive.Files[:1], rendered(t, readRun(t, archive.Files[0].Data))...)
			golden.Assert(t, file, txtar.Format(archive))
		})
	}
}

// TestAnswerLinks checks that each cited [Source N] of an answer links to a heading of the page, and each
// passage to its lines.
func TestAnswerLinks(t *testing.T) {
	r := transcript.Run{State: state.State{Turn: state.Turn{
		Query: "q", Language: "vi", Answer: "One [Source 2]. Two [Source 1][Source 2]. Three [Source 3].",
		Citations: []state.Citation{
			{N: 2, Source: "b.md", StartLine: 3, EndLine: 4, Quote: "b", URL: "https://docs.test/b"},
			{N: 1, Source: "a.md", StartLine: 1, EndLine: 1, Quote: "a", URL: "javascript:alert(1)"},
			{N: 2, Source: "b.md", StartLine: 9, EndLine: 9, Quote: "c"},
		},
	}}}
	var page bytes.Buffer
	viewer := goldmark.New(goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	if err := viewer.Convert([]byte(transcript.AnswerMD(r, transcript.Options{})), &page); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?:id|href)="([^"]*)"`).FindAllStringSubmatch(page.String(), -1) {
		got = append(got, m[1])
	}
	want := []string{
		"q", "#source-2", "#source-1", "#source-2", "",
		"source-1", "a.md#L1", "source-2", "b.md#L3-L4", "b.md#L9", // and not the address that the document declares
	}
	want[4] = got[min(4, len(got)-1)] // the anchor of the header differs between viewers
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("anchors and links (-want +got):\n%s", diff)
	}
	if strings.Contains(page.String(), "javascript") {
		t.Errorf("the page contains a javascript link:\n%s", &page)
	}
}

func rendered(t *testing.T, r transcript.Run) []txtar.File {
	t.Helper()
	var live []string
	for _, c := range slices.Backward(r.Commits) {
		live = append(live, transcript.DebugLines(c.Deltas)...)
		live = append(live, transcript.StageLines(c.Deltas)...)
	}
	return []txtar.File{
		{Name: "answer.md", Data: []byte(transcript.AnswerMD(r, transcript.Options{}))},
		{Name: "flow_trace.md", Data: []byte(transcript.FlowTraceMD(r))},
		{Name: "debug.txt", Data: []byte(strings.Join(live, "\n") + "\n")},
	}
}

// loggedRun is a run in a golden file, oldest commit first.
type loggedRun struct {
	Thread, Run string
	Commits     []struct {
		ID, Parent graph.CommitID
		Run        string
		Step       int
		Source     graph.Source
		Status     graph.Status
		Time       time.Time
		Frontier   []string
		Error      string
		Deltas     []struct {
			Node  string
			Rank  int
			Body  json.RawMessage
			Error string
			Notes graph.Notes
		}
	}
}

// readRun folds the deltas into the state and returns the commits newest first, as
// callers of the package do.
func readRun(t *testing.T, data []byte) transcript.Run {
	t.Helper()
	var in loggedRun
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		t.Fatal(err)
	}
	r := transcript.Run{Thread: in.Thread, ID: in.Run}
	for _, c := range in.Commits {
		commit := graph.Commit{
			ID: c.ID, Parent: c.Parent, Thread: in.Thread, Run: c.Run, Step: c.Step, Source: c.Source,
			Status: c.Status, Time: c.Time, Frontier: c.Frontier, Error: c.Error,
		}
		for _, d := range c.Deltas {
			var compact bytes.Buffer // stores keep compact JSON
			if d.Body != nil {
				var u state.Update
				if err := json.Unmarshal(d.Body, &u); err != nil {
					t.Fatal(err)
				}
				var err error
				if r.State, err = state.Apply(r.State, u); err != nil {
					t.Fatal(err)
				}
				if err := json.Compact(&compact, d.Body); err != nil {
					t.Fatal(err)
				}
			}
			commit.Deltas = append(commit.Deltas, graph.Delta{Node: d.Node, Rank: d.Rank, Body: compact.Bytes(), Error: d.Error, Notes: d.Notes})
		}
		r.Commits = append(r.Commits, commit)
	}
	slices.Reverse(r.Commits)
	return r
}

// TestEmptyRun renders a run that is not in the log.
func TestEmptyRun(t *testing.T) {
	r := transcript.Run{Thread: "t", ID: "r"}
	if got, want := transcript.AnswerMD(r, transcript.Options{}), "# (no question)\n\n*Thread t*\n\n*No answer: the run is pending.*\n"; got != want {
		t.Errorf("AnswerMD(empty) = %q, want %q", got, want)
	}
	if got := transcript.FlowTraceMD(r); !strings.Contains(got, "5. No answer: the run is pending.") {
		t.Errorf("FlowTraceMD(empty) does not say that there is no answer:\n%s", got)
	}
}

// TestLongQuestion checks that a long question is cut in the heading and repeated in full below.
func TestLongQuestion(t *testing.T) {
	question := strings.TrimSpace(strings.Repeat("Họ tên? ", 2500))
	r := transcript.Run{State: state.State{Turn: state.Turn{Query: question, Answer: "Yes."}}}
	got := transcript.AnswerMD(r, transcript.Options{})
	first, rest, _ := strings.Cut(got, "\n")
	if n := len([]rune(first)); n != 202 || !strings.HasSuffix(first, "…") {
		t.Errorf("heading has %d runes, want 202 ending in an ellipsis: %q", n, first)
	}
	if !strings.Contains(rest, question) {
		t.Error("the whole question is missing below the heading")
	}
}

func TestOptions(t *testing.T) {
	r := transcript.Run{State: state.State{Turn: state.Turn{
		Query: "Ai?", Language: "vi", Answer: "Tôi [Source 1].",
		Citations: []state.Citation{{N: 1, Source: "a.md", Root: "/x", StartLine: 2, EndLine: 3, Quote: "Tôi."}},
	}}}
	got := transcript.AnswerMD(r, transcript.Options{
		Path: func(c state.Citation) string { return "docs/" + c.Source },
	})
	want := "# Ai?\n\nTôi [\\[1\\]](#source-1).\n\n## Nguồn tham khảo\n\n### Source 1\n\n[a.md:2-3](docs/a.md#L2-L3)\n\n> ```text\n> Tôi.\n> ```\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("AnswerMD (-want +got):\n%s", diff)
	}
}

func TestVisibleJSON(t *testing.T) {
	want := "a\u202eb\u200bc\U000e0041\u009b\x7f é 👩"
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	shown := transcript.VisibleJSON(data)
	if got := string(shown); got != `"a\u202eb\u200bc\udb40\udc41\u009b\u007f é 👩"` {
		t.Errorf("got %s", got)
	}
	var back string
	if err := json.Unmarshal(shown, &back); err != nil || back != want {
		t.Errorf("read back %q, %v", back, err)
	}
}
