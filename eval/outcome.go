package eval

import (
	"cmp"
	"slices"

	"example.com/ragflow"
)

// Outcome is a question with its answer and metrics. Without a model it is the same for the same documents,
// settings and question, except for latencies, ids and times.
type Outcome struct {
	ID       string `json:"id"`   // of the item; for a turn with its number: "d1.2"
	Item     string `json:"item"` // id of its item
	Turn     int    `json:"turn,omitempty"`
	Lang     string `json:"lang,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Question string `json:"question"`
	Expected

	Reply ragflow.Reply `json:"reply"` // zero if the question failed
	Exact []bool        `json:"exact"` // for each citation: the file has the quote at these bytes
	Error string        `json:"error,omitempty"`

	Verdict   string             `json:"verdict"` // see [VerdictRight]; empty if it failed or correctness was not measured
	Metrics   map[string]float64 `json:"metrics"` // by name, see [Metrics]; only those that apply
	Judgement *Judgement         `json:"judgement,omitempty"`

	LatencyMS float64 `json:"latency_ms"` // from the question to the reply
}

// pages returns the distinct pages of hits, best first; with a leg only those that it found, in its order.
func pages(hits []ragflow.HitReply, leg string) []string {
	best := func(h ragflow.HitReply) (rank int) {
		for _, l := range h.Legs {
			if l.Name == leg && (rank == 0 || l.Rank < rank) {
				rank = l.Rank
			}
		}
		return rank
	}
	if leg != "" {
		hits = slices.DeleteFunc(slices.Clone(hits), func(h ragflow.HitReply) bool { return best(h) == 0 })
		slices.SortStableFunc(hits, func(a, b ragflow.HitReply) int { return cmp.Compare(best(a), best(b)) })
	}
	var out []string
	for _, h := range hits {
		if !slices.Contains(out, h.Source) {
			out = append(out, h.Source)
		}
	}
	return out
}

// answerable reports whether the documents should have the answer.
func (o *Outcome) answerable() bool { return Answerable(o.Kind) }

// told returns the verdict in words, and why a question failed.
func (o *Outcome) told() string {
	if o.Error != "" {
		return "failed: " + o.Error
	}
	return cmp.Or(o.Verdict, "not measured")
}

// offlineName is the name of the answerer without a model in replies. Its answers are quotes.
const offlineName = "offline"
