package openai

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/internal/transcript"
	"example.com/ragflow/server/internal/door"
)

// writer turns the text of an answer, piece by piece, into the text that clients get: [Source 4]
// becomes [1] if it is the first source that is cited.
type writer struct {
	taken string // the answer so far
	done  int    // bytes of it that were handed out
	runes int    // code points that were handed out
	order []int  // numbers of the sources as they are first cited
	marks []mark
}

// mark is a citation in the text. Places are code points.
type mark struct{ n, start, end int }

var (
	sourceMark = regexp.MustCompile(`\[Source (\d{1,4})\]`)
	openMark   = regexp.MustCompile(`\[(?:S(?:o(?:u(?:r(?:c(?:e(?: \d{0,4})?)?)?)?)?)?)?$`) // may become a mark
)

// write takes a piece and returns the text that can be sent.
func (w *writer) write(piece string) string {
	w.taken += piece
	if at := openMark.FindStringIndex(w.taken[w.done:]); at != nil {
		return w.upTo(w.done + at[0])
	}
	return w.close()
}

// close returns the rest of the text.
func (w *writer) close() string { return w.upTo(len(w.taken)) }

func (w *writer) upTo(end int) string {
	var out strings.Builder
	for _, at := range sourceMark.FindAllStringSubmatchIndex(w.taken[:end], -1) {
		if at[0] < w.done || !cites(w.taken[:at[0]]) {
			continue
		}
		w.add(&out, w.taken[w.done:at[0]])
		source, _ := strconv.Atoi(w.taken[at[2]:at[3]]) // digits
		n := 1 + slices.Index(w.order, source)
		if n == 0 {
			w.order = append(w.order, source)
			n = len(w.order)
		}
		start := w.runes
		w.add(&out, "["+strconv.Itoa(n)+"]")
		w.marks = append(w.marks, mark{n, start, w.runes})
		w.done = at[1]
	}
	w.add(&out, w.taken[w.done:end])
	w.done = end
	return out.String()
}

func (w *writer) add(out *strings.Builder, s string) {
	out.WriteString(s)
	w.runes += utf8.RuneCountInString(s)
}

// cites reports whether a mark after this text cites a source: quoted text has a backslash before
// it, and a block of code cites nothing.
func cites(before string) bool {
	if slashes := len(before) - len(strings.TrimRight(before, `\`)); slashes%2 == 1 {
		return false
	}
	code := text.Fences(before + "[")
	return len(code) == 0 || code[len(code)-1].End <= len(before)
}

// source is a source that the text cites.
type source struct {
	title, place, url string
	quotes            []string
}

// linker returns the address of what a citation quotes on this server; "" if it is no document of it.
type linker func(ragflow.CitationReply) string

// sources describes what the text cites, in the order of its numbers. A source that link knows no address for is
// shown at base as the run cites it.
func (w *writer) sources(r *ragflow.Reply, base string, link linker) []source {
	out := make([]source, len(w.order))
	for i, n := range w.order {
		s := &out[i]
		for _, c := range r.Citations {
			if c.N != n {
				continue
			}
			if len(s.quotes) == 0 {
				s.title, s.place, s.url = c.Title, located(c), c.URL
				if !strings.HasPrefix(s.url, "https://") {
					s.url = link(c)
				}
			}
			s.quotes = append(s.quotes, c.Quote)
		}
		if s.title == "" {
			s.title = s.place
		}
		if s.url == "" {
			s.url = fmt.Sprintf("%s/v1/passages/%s/%d", base, r.RunID, n)
		}
	}
	return out
}

// located is where a quote stands.
func located(c ragflow.CitationReply) string {
	if c.Pages != "" {
		return c.Source + ", " + c.Pages
	}
	return transcript.Place(c.Citation, "")
}

//nolint:gochecknoglobals // they never change
var (
	markdown = strings.NewReplacer("\n", " ", `\`, `\\`, "[", `\[`, "]", `\]`, "*", `\*`, "_", `\_`, "`", "\\`", "<", `\<`)
	address  = strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", " ", "%20", "\n", "")
)

// list is what follows an answer: its sources as links.
func list(header string, sources []source) string {
	if len(sources) == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "\n\n**%s**\n", header)
	for i, s := range sources {
		fmt.Fprintf(&out, "\n- [%d] [%s](%s)", i+1, markdown.Replace(s.title), address.Replace(s.url))
		if s.place != s.title {
			out.WriteString(" – " + markdown.Replace(s.place))
		}
	}
	return out.String()
}

// listed matches the list of sources at the end of a message.
var listed = regexp.MustCompile(`\s*\*\*[^*\n]+\*\*\s*(?:- \[\d+\] \[.*(?:\n|$))+\s*$`)

// passage shows what a run cites of its [Source n].
func (s *service) passage(w http.ResponseWriter, r *http.Request) (any, error) {
	reply, err := s.a.Reply(r.Context(), r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	shown := ""
	for _, c := range reply.Citations {
		if r.PathValue("n") == strconv.Itoa(c.N) {
			shown += located(c) + "\n\n" + c.Quote + "\n\n"
		}
	}
	if shown == "" {
		return nil, graph.ErrNotFound
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, shown) // a reader that has left needs nothing
	return door.Sent{}, nil
}
