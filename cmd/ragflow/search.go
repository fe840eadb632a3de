package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/transcript"
)

// mostHits is the greatest --top-k.
const mostHits = 1000

func (a *app) searchCommand() *cobra.Command {
	var (
		topK   int
		leg    string
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "search QUERY",
		Short: "List the passages that match a query, best first",
		Long: `List the passages that match a query, best first, with the file and the lines
they stand in. Nothing is answered and no thread is made.

Documents named with --docs are indexed first, as far as they are new or have
changed. The query may be given on standard input with "-".`,
		Example: `  ragflow search --docs ./docs "backup volume"
  ragflow search --top-k 3 "backup volume"
  ragflow search --json "backup volume" | jq -r '.hits[].source'`,
		Args: argsBetween(1, -1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if c.Flags().Changed("top-k") && topK < 1 || topK > mostHits {
				return usagef("--top-k is %d, but must be from 1 to %d", topK, mostHits)
			}
			if !slices.Contains([]string{"", ragflow.LegHybrid, ragflow.LegLexical, ragflow.LegDense}, leg) {
				return usagef("--leg is %q, but must be hybrid, lexical or dense", leg)
			}
			query, err := a.question(c.Context(), false, args, askOptions{})
			if err != nil {
				return err
			}
			assistant, err := a.openIndexed(c.Context(), nil)
			if err != nil {
				return err
			}
			defer closeInto(&err, assistant)
			reply, err := assistant.SearchLeg(c.Context(), query, topK, leg)
			if err != nil {
				return failed("search", err)
			}
			if asJSON {
				return a.writeJSON(reply)
			}
			a.searchTrouble(reply)
			a.printHits(reply)
			return nil
		},
	}
	a.docsFlag(c.Flags())
	a.collectionFlag(c.Flags())
	c.Flags().IntVar(&topK, "top-k", 0, "list `N` passages, 1 to 1000 (default: 10, or as the preset says)")
	c.Flags().StringVar(&leg, "leg", "", "search by `LEG`: words (lexical), meaning (dense) or both (hybrid); meaning needs an embedding model")
	a.retrievalFlags(c.Flags())
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object instead of text")
	return c
}

// searchTrouble warns where the search by meaning did not take part.
func (a *app) searchTrouble(r *ragflow.SearchReply) {
	if a.quiet {
		return
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(a.err, "warning: %s\n", line(w))
	}
	if r.Note != "" {
		fmt.Fprintf(a.err, "note: %s\n", line(r.Note))
	}
}

func (a *app) printHits(r *ragflow.SearchReply) {
	if len(r.Hits) == 0 {
		if !a.quiet {
			fmt.Fprintln(a.err, "no passage matches")
		}
		return
	}
	s := a.styleOf(a.stdout)
	words := wordsOf(r.Query)
	for _, h := range r.Hits {
		headings := h.Headings
		if len(headings) == 0 && h.Title != "" {
			headings = []string{h.Title}
		}
		fmt.Fprintf(a.out, "%2d. %s  %s\n", h.Rank, s.bold(place(h.Source, h.StartLine, h.EndLine, h.Pages)), s.dim(line(strings.Join(headings, " › "))))
		fmt.Fprintf(a.out, "    %s\n", highlight(snippet(h.Text, words), words, s))
	}
}

// longestSnippet is how many runes of a passage are shown.
const longestSnippet = 240

// wordsOf returns the words of a query that are worth marking.
func wordsOf(query string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(query), notWord) {
		if len(w) > 2 { // to, in, of: noise in English; two letters of other scripts are longer in bytes
			out = append(out, w)
		}
	}
	return out
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }

// matches reports whether a word of a text is one of the query's, or a form of
// one. It guesses, for the eye: the search itself has its own analyzer.
func matches(word string, words []string) bool {
	word = strings.ToLower(word)
	for _, w := range words {
		if word == w {
			return true
		}
		same := 0
		for same < min(len(w), len(word)) && w[same] == word[same] {
			same++
		}
		if same >= 4 && len(w)-same <= 3 && len(word)-same <= 3 {
			return true
		}
	}
	return false
}

// snippetWords is how many words a stretch of a snippet has, about.
const snippetWords = 35

// snippet cuts a passage to the stretch that holds most of the words of the
// query, the first of them where several do.
func snippet(text string, words []string) string {
	text = line(transcript.Visible(text))
	runes := []rune(text)
	if len(runes) <= longestSnippet {
		return text
	}
	fields := strings.Fields(text)
	first, most := 0, 0
	for i := range fields {
		if found := covered(fields[i:min(i+snippetWords, len(fields))], words); found > most {
			first, most = i, found
		}
	}
	out := shorten(strings.Join(fields[first:], " "), longestSnippet)
	if first > 0 {
		out = "…" + out
	}
	return out
}

// covered is how many of the words stand in a stretch, where it begins with one
// of them; 0 elsewhere.
func covered(fields, words []string) int {
	if !matches(strings.TrimFunc(fields[0], notWord), words) {
		return 0
	}
	n := 0
	for _, w := range words {
		for _, f := range fields {
			if matches(strings.TrimFunc(f, notWord), []string{w}) {
				n++
				break
			}
		}
	}
	return n
}

// highlight marks the words of the query in a line.
func highlight(text string, words []string, s style) string {
	if !s.on {
		return text
	}
	var b strings.Builder
	for text != "" {
		end := strings.IndexFunc(text, notWord)
		switch {
		case end < 0:
			end = len(text)
		case end == 0:
			_, end = utf8.DecodeRuneInString(text)
			b.WriteString(text[:end])
			text = text[end:]
			continue
		}
		if word := text[:end]; matches(word, words) {
			b.WriteString(s.mark(word))
		} else {
			b.WriteString(word)
		}
		text = text[end:]
	}
	return b.String()
}
