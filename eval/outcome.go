package eval

import (
	"cmp"
	"slices"

	"example.com/ragflow"
	"example.com/ragflow/state"
)

// Outcome is a question as it was answered, and what was measured of it. All of
// it but LatencyMS is the same for the same documents, settings and question,
// where no model is used.
type Outcome struct {
	ID       string `json:"id"`   // of the item; of a turn with its number behind: "d1.2"
	Item     string `json:"item"` // the item it belongs to
	Turn     int    `json:"turn,omitempty"`
	Lang     string `json:"lang,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Question string `json:"question"`
	Expected

	Answer    string              `json:"answer"`
	Abstained bool                `json:"abstained"`
	Grade     ragflow.GradeReply  `json:"grade"`
	Citations []Citation          `json:"citations"`
	Retrieved []Page              `json:"retrieved"` // distinct pages, best first
	Chunks    ragflow.ChunkCounts `json:"chunks"`    // how many went how far
	Quality   ragflow.Quality     `json:"quality"`   // what the check of the answer found when it was given
	Queries   []state.Query       `json:"queries"`
	Model     string              `json:"model"`
	Usage     ragflow.Usage       `json:"usage"` // of answering; that of judging is the judgement's
	CostUSD   float64             `json:"cost_usd"`
	Warnings  []string            `json:"warnings,omitempty"`
	Error     string              `json:"error,omitempty"` // why there is no answer

	Verdict   string             `json:"verdict"` // see [VerdictRight]; empty: it failed, or correctness was not measured
	Metrics   map[string]float64 `json:"metrics"` // by name, see [Metrics]; those that do not apply are left out
	Judgement *Judgement         `json:"judgement,omitempty"`

	LatencyMS float64 `json:"latency_ms"` // from asking to the reply
}

// Citation is a passage that an answer leans on.
type Citation struct {
	ragflow.CitationReply

	Exact bool `json:"exact"` // the file holds the quote at these bytes
}

// Page is a page among those retrieved.
type Page struct {
	Source   string         `json:"source"`
	Score    float64        `json:"score"`          // of its best chunk
	Legs     map[string]int `json:"legs,omitempty"` // the best rank of its chunks in each leg
	Relevant bool           `json:"relevant"`
}

// mostPages is how many pages an outcome keeps; DESIGN asks for 50 hits.
const mostPages = 50

// answered turns a reply into an outcome, without what is measured of it.
func (o *Outcome) answered(r *ragflow.Reply) {
	o.Answer, o.Abstained, o.Grade, o.Model = r.Answer, r.Abstained, r.Grade, r.Model
	o.Usage, o.CostUSD, o.Warnings = r.Usage, r.CostUSD, r.Warnings
	o.Queries, o.Chunks, o.Quality = r.Queries, r.Chunks, r.Quality
	for _, c := range r.Citations {
		o.Citations = append(o.Citations, Citation{CitationReply: c})
	}
	o.Retrieved = pagesOf(r.Retrieved, o.Relevant)
}

// pagesOf folds the chunks of each page into one, at the place of the best.
func pagesOf(hits []ragflow.HitReply, relevant []string) []Page {
	at := map[string]int{}
	var pages []Page
	for _, h := range hits {
		i, known := at[h.Source]
		if !known {
			if len(pages) == mostPages {
				continue
			}
			i = len(pages)
			at[h.Source] = i
			pages = append(pages, Page{
				Source: h.Source, Score: h.Score, Legs: map[string]int{}, Relevant: slices.Contains(relevant, h.Source),
			})
		}
		for _, leg := range h.Legs {
			if best, ok := pages[i].Legs[leg.Name]; !ok || leg.Rank < best {
				pages[i].Legs[leg.Name] = leg.Rank
			}
		}
	}
	return pages
}

// sources lists pages, best first.
func sources(pages []Page) []string {
	out := make([]string, len(pages))
	for i, p := range pages {
		out[i] = p.Source
	}
	return out
}

// legSources lists the pages that one leg found, in its own order.
func legSources(pages []Page, leg string) []string {
	var found []Page
	for _, p := range pages {
		if _, ok := p.Legs[leg]; ok {
			found = append(found, p)
		}
	}
	slices.SortStableFunc(found, func(a, b Page) int { return cmp.Compare(a.Legs[leg], b.Legs[leg]) })
	return sources(found)
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
