package nodes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/prompts"
	"example.com/ragflow/search/text"
	"example.com/ragflow/skills/cite"
	"example.com/ragflow/state"
)

// ContextOptions say what the context of an answer is made of. The zero value
// has the defaults.
type ContextOptions struct {
	MaxSources int // chunks, from 1 to [MaxSources], which is the default
	MaxTokens  int // of all sources with their labels; default [MaxContextTokens]
	// Separator stands between the sources of the assembled context; default
	// [ContextSeparator]. A model of package model is shown lines of its own there,
	// which no document can hold.
	Separator string
	// Scores puts the relevance of each source into its label: [Source 1]
	// (relevance: 0.83).
	Scores bool
	// Metadata puts what a document says of its kind and its number (front matter
	// document_type and document_id) above the text: Document type: law.
	Metadata bool
	// Sentences, where above 0, is how many sentences of each document are kept:
	// those that hold most words of the question ([DefaultSentences] is a good
	// number). Each run of neighbouring sentences becomes a source of its own. 0
	// keeps whole chunks, which is best for quoting.
	Sentences int
	// WholeSources leaves a source that does not fit out, instead of cutting its
	// end off where more than [MinCutTokens] are left for it.
	WholeSources bool
	// TrustDocuments keeps passages that read like orders to a model; they are
	// noted all the same.
	TrustDocuments bool
}

// WithDefaults fills in what is zero, and refuses what is out of range.
func (o ContextOptions) WithDefaults() (ContextOptions, error) {
	o.MaxSources = cmp.Or(o.MaxSources, MaxSources)
	o.MaxTokens = cmp.Or(o.MaxTokens, MaxContextTokens)
	o.Separator = cmp.Or(o.Separator, ContextSeparator)
	var faults []error
	if o.MaxSources < 1 || o.MaxSources > MaxSources {
		faults = append(faults, fmt.Errorf("a context of %d sources: it can have 1 to %d", o.MaxSources, MaxSources))
	}
	if o.MaxTokens < MinContextTokens {
		faults = append(faults, fmt.Errorf("a context of %d tokens: it needs %d", o.MaxTokens, MinContextTokens))
	}
	if o.Sentences < 0 {
		faults = append(faults, fmt.Errorf("%d sentences of a document: take 0 for whole chunks, or more", o.Sentences))
	}
	return o, errors.Join(faults...)
}

// The numbers behind [ContextOptions].
const (
	DefaultSentences = 3         // of each document, where sentences are taken out of it
	MinCutTokens     = 50        // a source is cut only where more than these are left
	MinContextTokens = 100       // of a context; less is no more than labels
	ContextSeparator = "\n---\n" // between the sources of a context
)

// Assemble is the sources as one text: each labelled [Source N], N from 1, with
// the separator between them. Marks that stand in the documents themselves are
// escaped: see [cite.Escape]. It is what the limit of tokens counts. language is
// that of the question.
func (o ContextOptions) Assemble(sources []state.Source, language string) string {
	var b strings.Builder
	for i, s := range sources {
		if i > 0 {
			b.WriteString(cmp.Or(o.Separator, ContextSeparator))
		}
		fmt.Fprintf(&b, "[Source %d]%s\n", i+1, o.relevance(s))
		if o.Metadata {
			for _, line := range prompts.Metadata(s.DocumentType, s.DocumentID, language) {
				b.WriteString(cite.Escape(line) + "\n")
			}
		}
		b.WriteString(cite.Escape(s.Text))
	}
	return b.String()
}

// relevance is what a label says of the score of a source, "" where it says
// nothing.
func (o ContextOptions) relevance(s state.Source) string {
	if !o.Scores {
		return ""
	}
	return fmt.Sprintf(" (relevance: %.2f)", s.Score)
}

// count is the tokens of sources; language as for Assemble.
func (o ContextOptions) count(sources []state.Source, language string) int {
	return text.Count(o.Assemble(sources, language))
}

// fit keeps the first sources that fit into the limit of tokens. Of the next one
// the beginning stays where more than MinCutTokens are left for it, and of the
// first one always, so that there is something to answer from. It never skips a
// source for a shorter one that ranks below. tokens is what the kept ones take.
func (o ContextOptions) fit(ctx context.Context, sources []state.Source, language string) (fitting []state.Source, tokens int) {
	all := o.count(sources, language)
	if all <= o.MaxTokens {
		return sources, all
	}
	n := len(sources)
	for n > 0 && o.count(sources[:n], language) > o.MaxTokens {
		n--
	}
	kept := slices.Clone(sources[:n])
	if n == 0 || !o.WholeSources && o.MaxTokens-o.count(kept, language) > MinCutTokens {
		if last, ok := o.shorten(kept, sources[n], language); ok {
			kept = append(kept, last)
		}
	}
	tokens = o.count(kept, language)
	graph.Warn(ctx, fmt.Sprintf("Context truncated from %d to %d tokens", all, tokens))
	return kept, tokens
}

// shorten cuts the end off a source so that it fits behind those that are kept:
// behind a sentence where a whole one fits, else behind a line or a word. It
// reports false where nothing is left.
func (o ContextOptions) shorten(kept []state.Source, s state.Source, language string) (state.Source, bool) {
	with := append(slices.Clone(kept), s)
	last := &with[len(kept)].Text
	low, high := 0, len(s.Text)
	for high-low > 1 {
		mid := low + (high-low)/2
		if *last = s.Text[:mid]; o.count(with, language) <= o.MaxTokens {
			low = mid
		} else {
			high = mid
		}
	}
	cut := s.Text[:low]
	if i := sentencesEnd(s.Text, low); i > 0 {
		cut = cut[:i]
	} else if i := strings.LastIndexAny(cut, " \n"); i > 0 {
		cut = cut[:i]
	}
	cut = strings.ToValidUTF8(cut, "")
	if strings.TrimSpace(cut) == "" {
		return s, false
	}
	s.Chunk = s.Part(0, len(cut))
	return s, true
}

// sentencesEnd returns where the last sentence of s ends that lies within the
// first limit bytes; 0 where none does.
func sentencesEnd(s string, limit int) int {
	end := 0
	for _, span := range text.Sentences(s) {
		if span.End > limit {
			break
		}
		end = span.End
	}
	return end
}

// sentences takes the sentences of each document that hold most of the
// question's words, in place of its chunks: o.Sentences of each, those that come
// first where several hold as many. A document without any keeps its chunks.
func (o ContextOptions) sentences(sources []state.Source, question, language string) []state.Source {
	asked := map[string]bool{}
	for _, w := range words(question) {
		if !text.StopWord(language, w) {
			asked[w] = true
		}
	}
	if o.Sentences == 0 || len(asked) == 0 {
		return sources
	}
	type sentence struct {
		source int // index
		span   text.Span
		share  float64 // of the question's words that it holds
	}
	of := map[document][]sentence{}
	for i, s := range sources {
		d := documentOf(s)
		for _, span := range text.Sentences(s.Text) {
			if share := overlap(asked, s.Text[span.Start:span.End]); share > 0 {
				of[d] = append(of[d], sentence{i, span, share})
			}
		}
	}
	keep := make([][]text.Span, len(sources))
	for d, all := range of {
		slices.SortStableFunc(all, func(a, b sentence) int { return cmp.Compare(b.share, a.share) })
		for _, s := range all[:min(o.Sentences, len(all))] {
			keep[s.source] = append(keep[s.source], s.span)
		}
		of[d] = all
	}
	var out []state.Source
	for i, s := range sources {
		if len(of[documentOf(s)]) == 0 {
			out = append(out, s)
		}
		for _, run := range runs(s.Text, keep[i]) {
			out = append(out, state.Source{Chunk: s.Part(run.Start, run.End), Score: s.Score})
		}
	}
	return out
}

// overlap is the share of the words asked for that a sentence holds.
func overlap(asked map[string]bool, sentence string) float64 {
	held := map[string]bool{}
	for _, w := range words(sentence) {
		if asked[w] {
			held[w] = true
		}
	}
	return float64(len(held)) / float64(len(asked))
}

// runs joins the spans of s that have nothing but white space between them, in
// order.
func runs(s string, spans []text.Span) []text.Span {
	slices.SortFunc(spans, func(a, b text.Span) int { return cmp.Compare(a.Start, b.Start) })
	var out []text.Span
	for _, span := range spans {
		if n := len(out); n > 0 && strings.TrimSpace(s[out[n-1].End:span.Start]) == "" {
			out[n-1].End = span.End
			continue
		}
		out = append(out, span)
	}
	return out
}
