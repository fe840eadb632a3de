package eval_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/search"
)

// codeQuestions ask for functions of real programs by what they do. Nothing was
// chosen by them: they are a report, not a yardstick of constants.
var codeQuestions = []struct{ text, source, head string }{
	{"How is a cookie turned into the text of a Set-Cookie header?", "go/cookie.go", "func (c *Cookie) String()"},
	{"Where are invalid characters in the name of a cookie replaced?", "go/cookie.go", "func sanitizeCookieName("},
	{"What takes the quotes off the value of a cookie?", "go/cookie.go", "func parseCookieValue("},
	{"Which function hands the next item of a template to the parser?", "go/lex.go", "func (l *lexer) nextItem()"},
	{"How is the left delimiter of an action scanned?", "go/lex.go", "func lexLeftDelim("},
	{"Where does the lexer read a number?", "go/lex.go", "func (l *lexer) scanNumber()"},
	{"How do I get the first element of a linked list?", "go/list.go", "func (l *List) Front()"},
	{"How is an element moved to the front of the list?", "go/list.go", "func (l *List) MoveToFront("},
	{"How do I create a scanner that reads from a reader?", "go/scan.go", "func NewScanner("},
	{"Which split function returns each line without its end of line?", "go/scan.go", "func ScanLines("},
	{"Where is the dictionary turned into a list of row values?", "python/csv.py", "def _dict_to_list("},
	{"How does the sniffer guess quote character and delimiter?", "python/csv.py", "def _guess_quote_and_delimiter("},
	{"How do I convert an old comparison function to a key function?", "python/functools.py", "def cmp_to_key("},
	{"What builds the cache key from positional and keyword arguments?", "python/functools.py", "def _make_key("},
	{"Is there a simple unbounded function cache?", "python/functools.py", "def cache("},
	{"How is a property computed once and then kept on the instance?", "python/functools.py", "class cached_property"},
	{"How do I pop the smallest item and push a new one at once?", "python/heapq.py", "def heapreplace("},
	{"How do I find the n largest elements of a dataset?", "python/heapq.py", "def nlargest("},
	{"What returns the approximate size of the queue?", "python/queue.py", "def qsize("},
	{"How do I take an item from the queue without blocking?", "python/queue.py", "def get_nowait("},
}

// TestCodeQuestions compares what finds functions by what they do: passages of
// the code chunker and of the one for text. Found is a function whose first line
// stands in one of the first five passages.
func TestCodeQuestions(t *testing.T) {
	root := golden.Public(t, "code")
	const k = 5
	var out strings.Builder
	chunkers := []string{chunk.Code, chunk.Text}
	ranks, tokens, until := map[string][]int{}, map[string]int{}, map[string]int{}
	for _, chunker := range chunkers {
		a, err := ragflow.Open(t.Context(), ragflow.Config{Docs: []string{filepath.Join(root, "go"), filepath.Join(root, "python")}, Chunking: chunk.Options{Chunker: chunker}})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		for _, q := range codeQuestions {
			reply, err := a.Search(t.Context(), q.text, ragflow.SearchOptions{Request: search.Request{K: k}, Plain: true})
			if err != nil {
				t.Fatal(err)
			}
			rank := 0
			for _, h := range reply.Hits {
				n := text.Estimate(h.Text)
				if tokens[chunker] += n; rank == 0 {
					until[chunker] += n
				}
				if rank == 0 && filepath.Base(h.Source) == filepath.Base(q.source) && strings.Contains(h.Text, q.head) {
					rank = h.Rank
				}
			}
			ranks[chunker] = append(ranks[chunker], rank)
		}
	}
	fmt.Fprintf(&out, "Rank of the function among the first %d passages; 0: not there. No constant was chosen by these questions.\n"+
		"The passages of text hold several functions each, so that fewer compete; those of code are to be read sooner.\n\n", k)
	for i, q := range codeQuestions {
		fmt.Fprintf(&out, "%s %d  %s %d  %s: %s\n", chunkers[0], ranks[chunkers[0]][i], chunkers[1], ranks[chunkers[1]][i], q.source, q.text)
	}
	out.WriteByte('\n')
	for _, c := range chunkers {
		found, first, mrr := 0, 0, 0.0
		for _, r := range ranks[c] {
			if r > 0 {
				found++
				mrr += 1 / float64(r)
			}
			if r == 1 {
				first++
			}
		}
		n := float64(len(codeQuestions))
		fmt.Fprintf(&out, "%-8s  found %d of %d, first %d, MRR %.3f; %.0f tokens a passage, %.0f read until found or given up\n", c,
			found, len(codeQuestions), first, mrr/n, float64(tokens[c])/n/k, float64(until[c])/n)
	}
	golden.Assert(t, filepath.Join("testdata", "code-questions.golden"), []byte(out.String()))
}
