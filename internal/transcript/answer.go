package transcript

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/sanitize"
	"example.com/ragflow/state"
)

// Options configure [AnswerMD]. The zero value is ready to use.
type Options struct {
	// Path returns the file of a citation, with slashes or the separators of the
	// system. The default joins Root and Source.
	Path func(state.Citation) string
	// IsChanged reports quotes that are no longer in their documents; nil means that there
	// are none.
	IsChanged func(state.Citation) bool
}

// maxTitle is the maximum length of a question in a heading, in runes.
const maxTitle = 200

// AnswerMD renders answer.md: the question as heading, a line with thread, date, model and certainty, the
// answer, the cited passages, and a line for each other source. Each [Source N] of the answer links to the passages of that source below,
// which link to their lines. A mark without a citation is not changed.
//
// The heading of a source is "Source N" in every language, because all viewers give it the anchor source-n,
// while footnotes and HTML anchors work only in some.
func AnswerMD(r Run, o Options) string {
	turn := r.State.Turn
	var b strings.Builder
	asked := oneLine(r.question())
	fmt.Fprintf(&b, "# %s\n\n", heading(asked))
	if cut(asked, maxTitle) != asked {
		b.WriteString(fenced("> ", r.question()) + "\n")
	}
	if f := facts(r); f != "" {
		b.WriteString("*" + f + "*\n\n")
	}
	text := strings.TrimSpace(turn.Answer)
	if text == "" {
		st, why := status(r.ordered())
		fmt.Fprintf(&b, "*%s*\n", inline(unanswered(st, why)))
		return b.String()
	}
	b.WriteString((&sanitize.Filter{Link: linker(turn.Citations)}).All(text) + "\n")
	if len(turn.Citations) > 0 {
		fmt.Fprintf(&b, "\n## %s\n", inline(prompts.Say(prompts.SourcesHeader, turn.Language)))
		references(&b, turn.Citations, turn.Language, o)
	}
	alsoFound(&b, turn, o)
	return b.String()
}

// facts names the thread, the date, the model and the certainty of an answer, as far
// as they are known, in one line.
func facts(r Run) string {
	var parts []string
	if r.Thread != "" {
		parts = append(parts, "Thread "+inline(r.Thread))
	}
	if commits := r.ordered(); len(commits) > 0 {
		parts = append(parts, commits[0].Time.UTC().Format("2006-01-02 15:04 UTC"))
	}
	turn := r.State.Turn
	switch turn.Model {
	case "":
	case offline:
		parts = append(parts, "no model")
	default:
		parts = append(parts, "model "+inline(turn.Model))
	}
	if turn.Model != "" && turn.Route == state.RouteSearch {
		parts = append(parts, "certainty "+certainty(turn))
	}
	if c := turn.Cached; c != nil {
		from := "from the cache, answered " + c.Time.UTC().Format("2006-01-02 15:04 UTC")
		if c.Question != turn.Query {
			from += " for the question “" + inline(cut(oneLine(c.Question), maxTitle)) + "”"
		}
		parts = append(parts, from)
	}
	return strings.Join(parts, " · ")
}

// certainty describes the probability that the sources of an answer answer the question.
func certainty(t state.Turn) string {
	means := map[string]string{
		state.BandAnswers: "this answers the question", state.BandProbably: "this probably answers the question",
		state.BandUnsure: "this may not answer the question", state.BandClosest: "the question is not answered",
	}[state.Band(t.Grade.Score, t.Abstained)]
	return fmt.Sprintf("%.2f of 1.00: %s", t.Grade.Score, means)
}

// heading returns a question as the text of a heading.
func heading(question string) string {
	if question == "" {
		return "(no question)"
	}
	return inline(cut(question, maxTitle))
}

func unanswered(st graph.Status, why string) string {
	if why == "" {
		return fmt.Sprintf("No answer: the run is %s.", st)
	}
	return fmt.Sprintf("No answer: the run is %s: %s.", st, strings.TrimSuffix(why, "."))
}

// sourceMark matches a citation.
var sourceMark = regexp.MustCompile(`\[Source (\d{1,4})\]`)

// linker returns a function that turns each cited [Source N] of prose into a link.
func linker(cs []state.Citation) func(prose string, keep func(string) string) string {
	cited := map[string]bool{}
	for _, c := range cs {
		cited[strconv.Itoa(c.N)] = true
	}
	return func(prose string, keep func(string) string) string {
		return sourceMark.ReplaceAllStringFunc(prose, func(mark string) string {
			n := sourceMark.FindStringSubmatch(mark)[1]
			if !cited[n] {
				return mark
			}
			return keep(fmt.Sprintf(`[\[%s\]](#source-%s)`, n, n))
		})
	}
}

// references lists the citations by number; citations of one source keep their order.
func references(b *strings.Builder, cs []state.Citation, language string, o Options) {
	cs = slices.Clone(cs)
	slices.SortStableFunc(cs, func(x, y state.Citation) int { return x.N - y.N })
	for i, c := range cs {
		if i == 0 || cs[i-1].N != c.N {
			fmt.Fprintf(b, "\n### Source %d\n", c.N)
		}
		title := ""
		if c.Title != "" {
			title = "**" + inline(c.Title) + "** — "
		}
		place := inline(Place(c, language))
		if c.Root != "" || c.StartLine > 0 || c.Page > 0 { // else no file holds it
			place = fmt.Sprintf("[%s](%s)", place, link(c, o))
		}
		fmt.Fprintf(b, "\n%s%s%s\n\n", title, place, published(c))
		b.WriteString(fenced("> ", c.Quote))
		if c.Found {
			fmt.Fprintf(b, "\n*%s*\n", inline(prompts.Say(prompts.Found, language)))
		}
		if o.IsChanged != nil && o.IsChanged(c) {
			fmt.Fprintf(b, "\n*%s*\n", inline(prompts.Say(prompts.Changed, language)))
		}
	}
}

// published returns the public https address that a cited document declares, or "".
func published(c state.Citation) string {
	if !strings.HasPrefix(c.URL, "https://") || strings.ContainsFunc(c.URL, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("<>\"`\\", r)
	}) {
		return ""
	}
	return " — `" + c.URL + "`"
}

// Place formats the position of a citation for people: path and lines
// (path:12-18), or path and pages in the given language (handbook.pdf, page 12), or
// the path alone.
func Place(c state.Citation, language string) string {
	if pages := prompts.Pages(c.Page, c.EndPage, c.PageLabel, language); pages != "" {
		return c.Source + ", " + pages
	}
	if c.StartLine == 0 {
		return c.Source
	}
	if c.StartLine == c.EndLine {
		return fmt.Sprintf("%s:%d", c.Source, c.StartLine)
	}
	return fmt.Sprintf("%s:%d-%d", c.Source, c.StartLine, c.EndLine)
}

// link returns the destination of a Markdown link to a citation's lines or page.
func link(c state.Citation, o Options) string {
	p := path.Join(c.Root, c.Source)
	if o.Path != nil {
		p = o.Path(c)
	}
	p = strings.ReplaceAll(p, `\`, "/")
	if len(p) > 1 && p[1] == ':' { // a Windows drive, not a scheme
		p = "/" + p
	}
	p = (&url.URL{Path: p}).EscapedPath()
	p = strings.NewReplacer("(", "%28", ")", "%29", "*", "%2A", "_", "%5F", "[", "%5B", "]", "%5D").Replace(p)
	switch {
	case c.Page > 0:
		return fmt.Sprintf("%s#page=%d", p, c.Page) // RFC 8118, which browsers and most readers follow
	case c.StartLine == 0:
		return p
	case c.StartLine == c.EndLine:
		return fmt.Sprintf("%s#L%d", p, c.StartLine)
	}
	return fmt.Sprintf("%s#L%d-L%d", p, c.StartLine, c.EndLine)
}
