package cite_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"

	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/state"
)

// TestSciFact reports the verdicts on scientific claims that an abstract supports or contradicts, by the
// labels of SciFact. Few claims use the words of the abstract.
func TestSciFact(t *testing.T) {
	abstracts := map[string]string{}
	readLines(t, "corpus.jsonl.gz", func(line []byte) error {
		var d struct {
			ID   string `json:"_id"`
			Text string `json:"text"`
		}
		err := json.Unmarshal(line, &d)
		abstracts[d.ID] = d.Text
		return err
	})
	table := map[string]map[string]int{"SUPPORT": {}, "CONTRADICT": {}}
	readLines(t, "queries.jsonl.gz", func(line []byte) error {
		var claim struct {
			Text     string                              `json:"text"`
			Metadata map[string][]struct{ Label string } `json:"metadata"`
		}
		err := json.Unmarshal(line, &claim)
		for id, evidence := range claim.Metadata {
			source := state.Source{Chunk: state.Chunk{ID: id, Source: id, Text: abstracts[id]}}
			r := cite.Check(claim.Text+" "+cite.Marker(1), []state.Source{source}, cite.Options{Language: "en"})
			verdict := "passes"
			if s := r.Sentences[0]; s.Best.Contrary != "" {
				verdict = "contrary"
			} else if !s.Supported {
				verdict = "not found"
			} else if s.Sources[0].Firm {
				verdict = "firm"
			}
			table[evidence[0].Label][verdict]++
		}
		return err
	})
	t.Logf("supported: %v, contradicted: %v", table["SUPPORT"], table["CONTRADICT"])
	if wrong := table["CONTRADICT"]; wrong["firm"] > (wrong["firm"]+wrong["passes"]+wrong["contrary"]+wrong["not found"])/5 {
		t.Errorf("of the contradicted claims too many are firm: %v", wrong)
	}
}

// readLines reads the lines of a file of SciFact.
func readLines(t *testing.T, name string, read func([]byte) error) {
	t.Helper()
	f, err := os.Open(golden.Public(t, "beir", "scifact", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := read(lines.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}
