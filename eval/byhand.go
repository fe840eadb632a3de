package eval

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed judged.jsonl
var judgedFile []byte

// byHand is an answer that was graded by hand, by the rubric that judges get.
type byHand struct {
	Question string         `json:"question"`
	Expected string         `json:"expected"`
	Answer   string         `json:"answer"`
	Scores   map[string]int `json:"scores"` // by aspect, 0 to 10
}

func judgedByHand() ([]byHand, error) {
	var out []byHand
	for line := range bytes.Lines(judgedFile) {
		var item byHand
		if err := json.Unmarshal(line, &item); err != nil {
			return nil, fmt.Errorf("answers judged by hand: %w", err)
		}
		out = append(out, item)
	}
	return out, nil
}
