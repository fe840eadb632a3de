package chat

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"example.com/ragflow"
	"example.com/ragflow/internal/termmd"
	"example.com/ragflow/internal/transcript"
)

// Widest is how many columns text is given at most: longer lines are hard to
// read.
const Widest = 96

func (s *session) width() int {
	if s.Size == nil {
		return Widest - 1
	}
	columns, _ := s.Size()
	return min(columns-1, Widest)
}

// rendered is an answer as lines for the terminal. Of an answer that is done, lines of
// code stay whole.
func (s *session) rendered(answer string, done bool) []string {
	out := termmd.Render(transcript.Visible(answer), termmd.Options{
		Width: s.width(), Style: s.Style, LongCode: done,
		Cite: func(n int) string { return s.faint(fmt.Sprintf("[%d]", n)) },
	})
	return strings.Split(out, "\n")
}

// answer shows a reply and its sources.
func (s *session) answer(r *ragflow.Reply) {
	lines := []string{transcript.Visible(strings.TrimSpace(r.Answer))}
	if s.Size != nil {
		lines = append([]string{""}, s.rendered(strings.TrimSpace(r.Answer), true)...)
	}
	if len(r.Citations) > 0 {
		lines = append(lines, "")
		if s.Size == nil {
			lines = append(lines, cmp.Or(r.SourcesHeader, "Sources"))
		}
	}
	for _, group := range grouped(r.Citations) {
		lines = append(lines, s.source(group))
		if u := group[0].URL; u != "" {
			lines = append(lines, "    "+oneLine(u))
		}
		if !slices.ContainsFunc(group, func(c ragflow.CitationReply) bool { return !c.Found }) {
			lines = append(lines, "    "+r.FoundNotice)
		}
		if slices.ContainsFunc(group, func(c ragflow.CitationReply) bool { return c.Changed }) {
			lines = append(lines, "    "+r.ChangedNotice)
		}
	}
	if s.Size == nil {
		s.say(lines...)
	} else {
		s.screen.finish(append(lines, ""))
	}
	for _, w := range r.Warnings {
		s.warn(w)
	}
}

// grouped puts the passages of one source together, in the order of their numbers and
// lines.
func grouped(list []ragflow.CitationReply) [][]ragflow.CitationReply {
	var out [][]ragflow.CitationReply
	sorted := slices.SortedStableFunc(slices.Values(list), func(a, b ragflow.CitationReply) int {
		return cmp.Or(cmp.Compare(a.N, b.N), strings.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine), cmp.Compare(a.Start, b.Start))
	})
	for _, c := range sorted {
		last := len(out) - 1
		if last < 0 || out[last][0].N != c.N || out[last][0].Path != c.Path {
			out = append(out, nil)
			last++
		}
		out[last] = append(out[last], c)
	}
	return out
}

// source is the line that names the passages of one source. A path stays whole, so that
// it can be copied.
func (s *session) source(group []ragflow.CitationReply) string {
	c := group[0]
	number, where, title := fmt.Sprintf("[%d]", c.N), placed(s.shown(c.Path, c.Source), group), oneLine(c.Title)
	if s.Size == nil {
		return strings.TrimRight(number+" "+where+"  "+title, " ")
	}
	line := "  " + s.faint(number) + " " + s.dim(where)
	if ansi.StringWidth(line+"  "+title) <= s.width() {
		line += "  " + title
	}
	return strings.TrimRight(line, " ")
}

// shown writes a path as one would type it here: relative to the working folder, else
// whole.
func (*session) shown(path, source string) string {
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if rel, relErr := filepath.Rel(here, path); err == nil && relErr == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return oneLine(cmp.Or(path, source))
}

// placed names the lines of a group of passages as compilers do: path:12-18, 24. Pages are named in words: path, page 12, page 14.
func placed(path string, group []ragflow.CitationReply) string {
	var places []string
	for i, c := range group {
		place := c.Pages
		switch {
		case c.StartLine > 0 && i > 0 && c.EndLine <= group[i-1].EndLine: // within the one before
			continue
		case c.StartLine > 0 && c.StartLine < c.EndLine:
			place = fmt.Sprintf("%d-%d", c.StartLine, c.EndLine)
		case c.StartLine > 0:
			place = strconv.Itoa(c.StartLine)
		}
		if place != "" && !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	if len(places) > 0 && group[0].StartLine > 0 {
		return path + ":" + strings.Join(places, ", ")
	}
	return strings.Join(append([]string{path}, places...), ", ")
}

// say writes lines.
func (s *session) say(lines ...string) {
	for _, l := range lines {
		fmt.Fprintln(s.Out, l)
	}
}

// echo repeats a text of a session without a terminal above its answer, as
// Markdown does.
func (s *session) echo(text string) {
	if s.Size == nil {
		fmt.Fprintf(s.Out, "> %s\n\n", oneLine(text))
	}
}

// hint says something that is not an answer.
func (s *session) hint(text string) {
	if s.Size != nil {
		for _, l := range termmd.Wrap(text, s.width()) {
			fmt.Fprintln(s.Out, s.dim(l))
		}
	} else if !s.Quiet {
		fmt.Fprintln(s.Err, text)
	}
}

func (s *session) warn(text string) {
	if !s.Quiet {
		s.hint("warning: " + oneLine(text))
	}
}

// complain tells of an error.
func (s *session) complain(err error) {
	what, hint := s.Explain(err)
	if s.Size == nil {
		if s.failed == nil {
			s.failed = err
		}
		fmt.Fprintf(s.Err, "ragflow: %s\n", oneLine(what))
		if hint != "" && !s.Quiet {
			fmt.Fprintf(s.Err, "hint: %s\n", hint)
		}
		return
	}
	for _, l := range termmd.Wrap(oneLine(what), s.width()) {
		s.say(s.sgr("31", l))
	}
	if hint != "" {
		s.hint(hint)
	}
	s.say("")
}

func (s *session) sgr(code, text string) string {
	if !s.Style || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s *session) bold(text string) string   { return s.sgr("1", text) }
func (s *session) dim(text string) string    { return s.sgr("2", text) }
func (s *session) accent(text string) string { return s.sgr("1;36", text) }
func (s *session) faint(text string) string  { return s.sgr("36", text) }

// clip cuts a line to a width of the screen; without one it stays whole.
func (s *session) clip(text string, width int) string {
	if s.Size == nil {
		return text
	}
	return ansi.Truncate(text, max(width, 8), "…")
}

// oneLine makes a text one line that cannot command a terminal.
func oneLine(text string) string {
	return strings.Join(strings.Fields(transcript.Visible(text)), " ")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func when(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") + " UTC" }
