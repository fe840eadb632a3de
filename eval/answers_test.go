package eval_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ragflow "example.com/ragflow"
	"example.com/ragflow/internal/golden"
)

// TestAnswersGolden pins whole answers, so that a change of wording is a
// reviewed diff. A line that begins with "+" goes on with the thread before it,
// one that begins with "==" names the documents of the lines behind it: docker,
// the Docker pages, or guide, our own. Other lines with "#" are remarks.
func TestAnswersGolden(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 1,455 pages")
	}
	data := os.Getenv("RAGFLOW_DATA")
	if data == "" {
		data = filepath.Join("..", "..", "shared", "data")
	}
	docker := filepath.Join(data, "docker-docs")
	if _, err := os.Stat(docker); err != nil {
		t.Skip("no corpus: set RAGFLOW_DATA to the folder that holds docker-docs")
	}
	questions, err := os.ReadFile("testdata/answers.txt")
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{"docker": docker, "guide": filepath.Join("..", "docs")}
	var out bytes.Buffer
	for part := range strings.SplitSeq("\n"+string(questions), "\n== ") {
		name, lines, ok := strings.Cut(part, "\n")
		if !ok || name == "" {
			continue
		}
		if folders[name] == "" {
			t.Fatalf("answers.txt: no documents are called %q", name)
		}
		fmt.Fprintf(&out, "== %s\n\n", name)
		ask(t, folders[name], lines, &out)
	}
	golden.Assert(t, "testdata/answers.golden", out.Bytes())
}

// ask writes the answers to questions, one a line, with their citations.
func ask(t *testing.T, docs, questions string, out *bytes.Buffer) {
	t.Helper()
	assistant, err := ragflow.Open(t.Context(), ragflow.Config{Docs: []string{docs}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := assistant.Close(); err != nil {
			t.Error(err)
		}
	})
	thread := 0
	for line := range strings.Lines(questions) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		question, follows := strings.CutPrefix(line, "+")
		if !follows {
			thread++
		}
		reply, err := assistant.Ask(t.Context(), ragflow.Question{Text: question, Thread: fmt.Sprintf("t%d", thread)})
		if err != nil {
			t.Fatalf("%s: %v", question, err)
		}
		if q := reply.Quality; q.Faithfulness != 1 || q.CitationPrecision != 1 || q.CitationRecall != 1 {
			t.Errorf("%s: an offline answer quotes, so its quality is 1 by construction: %+v\n%s", question, q, reply.Answer)
		}
		fmt.Fprintf(out, "-- %s --\n%s\n\n", line, reply.Answer)
		for _, c := range reply.Citations {
			fmt.Fprintf(out, "[%d] %s:%d\n", c.N, c.Source, c.StartLine)
		}
		out.WriteString("\n")
	}
}
