package eval

import (
	"cmp"
	"slices"

	"example.com/ragflow"
)

// Outcome is a question as it was answered, and what was measured of it. All of
// it but latencies, ids and times is the same for the same documents, settings and
// question, where no model is used.
type Outcome struct {
	ID       string `json:"id"`   // of the item; of a turn with its number behind: "d1.2"
	Item     string `json:"item"` // the item it belongs to
	Turn     int    `json:"turn,omitempty"`
	Lang     string `json:"lang,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Question string `json:"question"`
	Expected

	Reply ragflow.Reply `json:"reply"` // zero where the question failed
	Exact []bool        `json:"exact"` // for each citation: the file holds the quote at its bytes
	Error string        `json:"error,omitempty"`

	Verdict   string             `json:"verdict"` // see [VerdictRight]; empty: it failed, or correctness was not measured
	Metrics   map[string]float64 `json:"metrics"` // by name, see [Metrics]; those that do not apply are left out
	Judgement *Judgement         `json:"judgement,omitempty"`

	LatencyMS float64 `json:"latency_ms"` // from asking to the reply
}

// pages lists the distinct pages of hits, best first; with a leg those that it found, in
// its own order.
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

// answerable reports whether the documents are expected to answer.
func (o *Outcome) answerable() bool { return Answerable(o.Kind) }

// told is the verdict in words, and why a question failed.
func (o *Outcome) told() string {
	if o.Error != "" {
		return "failed: " + o.Error
	}
	return cmp.Or(o.Verdict, "not measured")
}

// offlineName is how replies name the answerer that needs no model. Its answers
// are quotes, so that each statement must stand in its sources.
const offlineName = "offline"
