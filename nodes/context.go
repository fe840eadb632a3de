package nodes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// ContextOptions assemble the context of an answer.
type ContextOptions state.ContextOptions

// WithDefaults fills in zero fields. Values out of range are an error.
func (o ContextOptions) WithDefaults() (ContextOptions, error) {
	o.MaxSources = cmp.Or(o.MaxSources, MaxSources)
	o.MaxTokens = cmp.Or(o.MaxTokens, MaxContextTokens)
	o.Separator = cmp.Or(o.Separator, ContextSeparator)
	var faults []error
	if o.MaxSources < 1 || o.MaxSources > MaxSources {
		faults = append(faults, fmt.Errorf("%d sources in a context: the range is 1 to %d", o.MaxSources, MaxSources))
	}
	if o.MaxTokens < minContextTokens {
		faults = append(faults, fmt.Errorf("a context of %d tokens: the minimum is %d", o.MaxTokens, minContextTokens))
	}
	if o.Sentences < 0 {
		faults = append(faults, fmt.Errorf("%d sentences per document: the minimum is 0, for whole chunks", o.Sentences))
	}
	return o, errors.Join(faults...)
}

// Constants of [ContextOptions].
const (
	DefaultSentences = 3         // sentences per document
	minCutTokens     = 50        // a source is cut only if more tokens than this are left for it
	minContextTokens = 100       // smaller contexts have room for labels only
	ContextSeparator = "\n---\n" // between the sources of a context
)

// Assemble returns the sources as one text: each with the label [Source N], N from
// 1, and the separator between them. Labels in the text of documents are escaped:
// see [cite.Escape]. The token limit applies to this text. language is that of
// the question.
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

// relevance returns the score of a source for its label, "" without Scores.
func (o ContextOptions) relevance(s state.Source) string {
	if !o.Scores {
		return ""
	}
	return fmt.Sprintf(" (relevance: %.2f)", s.Score)
}

// count returns the tokens of the assembled sources.
func (o ContextOptions) count(sources []state.Source, language string) int {
	return text.Count(o.Assemble(sources, language))
}

// fit returns the first sources that fit into the token limit, and their tokens.
// The next source is shortened if more than minCutTokens are left for it. The first
// source is always shortened to fit, so that the context is not empty. fit never
// skips a source for a shorter one with a lower rank.
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
	if n == 0 || !o.WholeSources && o.MaxTokens-o.count(kept, language) > minCutTokens {
		if last, ok := o.shorten(kept, sources[n], language); ok {
			kept = append(kept, last)
		}
	}
	tokens = o.count(kept, language)
	graph.Note(ctx, "cut to fit", strconv.Itoa(len(sources)-n))
	graph.Warn(ctx, fmt.Sprintf("Context truncated from %d to %d tokens", all, tokens))
	return kept, tokens
}

// shorten cuts the end off a source so that it fits after the kept ones: after a
// sentence if a whole one fits, else after a line or a word. It reports false if
// nothing is left.
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

// sentencesEnd returns the end of the last whole sentence within the first limit
// bytes of s, or 0.
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

// sentences replaces the chunks of each document by the o.Sentences sentences with
// the most words of the question; the earlier sentence wins a tie. A document
// without such a sentence keeps its chunks.
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
		share  float64 // share of the question's words in it
	}
	found := map[document][]sentence{}
	for i, s := range sources {
		d := documentOf(s)
		for _, span := range text.Sentences(s.Text) {
			if share := overlap(asked, s.Text[span.Start:span.End]); share > 0 {
				found[d] = append(found[d], sentence{i, span, share})
			}
		}
	}
	keep := make([][]text.Span, len(sources))
	for _, all := range found {
		slices.SortStableFunc(all, func(a, b sentence) int { return cmp.Compare(b.share, a.share) })
		for _, s := range all[:min(o.Sentences, len(all))] {
			keep[s.source] = append(keep[s.source], s.span)
		}
	}
	var out []state.Source
	for i, s := range sources {
		if len(found[documentOf(s)]) == 0 {
			out = append(out, s)
		}
		for _, run := range runs(s.Text, keep[i]) {
			out = append(out, state.Source{Chunk: s.Part(run.Start, run.End), Score: s.Score})
		}
	}
	return out
}

// overlap returns the share of the asked words that occur in a sentence.
func overlap(asked map[string]bool, sentence string) float64 {
	found := map[string]bool{}
	for _, w := range words(sentence) {
		if asked[w] {
			found[w] = true
		}
	}
	return float64(len(found)) / float64(len(asked))
}

// runs sorts the spans of s and joins those with only white space between them.
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
