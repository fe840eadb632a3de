package eval

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed judged.jsonl
var judgedFile []byte

// byHand is an answer of known quality that was read by the rubric that judges
// get. There are two readings, both by authors of this program, the second without
// sight of the first and by a language model: no panel of people stands behind them.
// How far the two agree is the most that a judge can be asked for.
type byHand struct {
	Question string         `json:"question"`
	Expected string         `json:"expected"`
	Answer   string         `json:"answer"`
	Scores   map[string]int `json:"scores"` // by aspect, 0 to 10; what a judge is compared with
	Second   map[string]int `json:"second"` // the second reading
}

func judgedByHand() ([]byHand, error) {
	var out []byHand
	for line := range bytes.Lines(judgedFile) {
		var item byHand
		if err := json.Unmarshal(line, &item); err != nil {
			return nil, fmt.Errorf("answers read by the authors: %w", err)
		}
		out = append(out, item)
	}
	return out, nil
}
