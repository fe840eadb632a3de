package chat

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"example.com/ragflow"
	"example.com/ragflow/cmd/ragflow/internal/screen"
	"example.com/ragflow/internal/termmd"
	"example.com/ragflow/internal/transcript"
)

// MaxWidth is the greatest width of text in columns: longer lines are hard to read.
const MaxWidth = 96

func (s *session) width() int {
	if s.Size == nil {
		return MaxWidth - 1
	}
	columns, _ := s.Size()
	return min(columns-1, MaxWidth)
}

// rendered is an answer as lines for the terminal. If it is done, lines of code stay whole.
func (s *session) rendered(answer string, done bool) []string {
	out := termmd.Render(transcript.Visible(answer), termmd.Options{
		Width: s.width(), Style: s.Style.On, LongCode: done,
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
		if s.Sources {
			lines = append(lines, passages(group)...)
		}
		if u := group[0].URL; u != "" {
			lines = append(lines, "    "+screen.Line(u))
		}
		if !slices.ContainsFunc(group, func(c ragflow.CitationReply) bool { return !c.Found }) {
			lines = append(lines, "    "+r.FoundNotice)
		}
		if slices.ContainsFunc(group, func(c ragflow.CitationReply) bool { return c.Changed }) {
			lines = append(lines, "    "+r.ChangedNotice)
		}
	}
	if c := r.Cached; c != nil {
		lines = append(lines, "", s.Style.Dim(fmt.Sprintf("From the cache, answered %s: %s (--no-cache answers anew)", c.Time.Local().Format(time.DateTime), screen.Line(c.Question))))
	}
	lines = append(lines, s.others(r, s.Sources)...)
	lines = append(lines, s.unread(r)...)
	if s.Size == nil {
		s.say(lines...)
	} else {
		s.screen.finish(append(lines, ""))
	}
	for _, w := range r.Warnings {
		s.warn(w)
	}
}

// others lists the sources that an answer does not cite, with their telling words or their passages. Below
// an answer without sources only the nearest documents are listed.
func (s *session) others(r *ragflow.Reply, whole bool) []string {
	const nearest = 3
	shown := slices.Clone(r.Others)
	if len(r.Citations) == 0 && !whole {
		seen := map[string]bool{}
		shown = slices.DeleteFunc(shown, func(o ragflow.OtherReply) bool {
			again := seen[o.Path] || len(seen) == nearest
			seen[o.Path] = true
			return again
		})
	}
	if len(shown) == 0 {
		return nil
	}
	lines := []string{"", s.Style.Dim(cmp.Or(r.OthersHeader, "Also found"))}
	for _, o := range shown {
		group := []ragflow.CitationReply{{Citation: o.Citation, Path: o.Path, Pages: o.Pages}}
		line := s.source(group)
		if whole {
			lines = append(lines, line)
			lines = append(lines, passages(group)...)
			continue
		}
		if len(r.Citations) > 0 {
			line += ": " + transcript.Visible(o.Telling)
		}
		lines = append(lines, ansi.Truncate(line, maxOther, "…"))
	}
	return lines
}

// unread lists what was not searched, if the answer was not found.
func (s *session) unread(r *ragflow.Reply) []string {
	const named = 5
	if len(r.Unread) == 0 {
		return nil
	}
	lines := []string{"", s.Style.Dim(cmp.Or(r.UnreadHeader, "Not read, so not searched"))}
	for _, f := range r.Unread[:min(len(r.Unread), named)] {
		lines = append(lines, ansi.Truncate("  "+screen.Line(f.Source+": "+f.Reason), maxOther, "…"))
	}
	if more := len(r.Unread) - named; more > 0 {
		lines = append(lines, fmt.Sprintf("  … %d", more))
	}
	return lines
}

// maxOther is the greatest width of the line of a source that is not cited, in columns.
const maxOther = 160

// passages returns the text of the passages of one source, indented.
func passages(group []ragflow.CitationReply) []string {
	var out []string
	for _, c := range group {
		for l := range strings.Lines(strings.TrimSpace(c.Quote)) {
			out = append(out, strings.TrimRight("    "+transcript.Visible(l), " \n"))
		}
		out = append(out, "")
	}
	return out
}

// grouped groups passages by source, in the order of their numbers and lines.
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

// source is the line that names the passages of one source. A path is never cut, so that it can
// be copied.
func (s *session) source(group []ragflow.CitationReply) string {
	c := group[0]
	number, where, title := fmt.Sprintf("[%d]", c.N), placed(s.shown(c.Path, c.Source), group), screen.Line(c.Title)
	if s.Size == nil {
		return strings.TrimRight(number+" "+where+"  "+title, " ")
	}
	line := "  " + s.faint(number) + " " + s.Style.Dim(where)
	if ansi.StringWidth(line+"  "+title) <= s.width() {
		line += "  " + title
	}
	return strings.TrimRight(line, " ")
}

// shown is a path relative to the working folder, if it lies in it.
func (*session) shown(path, source string) string {
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if rel, relErr := filepath.Rel(here, path); err == nil && relErr == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return screen.Line(cmp.Or(path, source))
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

// echo repeats a text above its answer, as a Markdown quote, in a session without a terminal.
func (s *session) echo(text string) {
	if s.Size == nil {
		fmt.Fprintf(s.Out, "> %s\n\n", screen.Line(text))
	}
}

// hint writes a line that is not part of an answer.
func (s *session) hint(text string) {
	if s.Size != nil {
		for _, l := range termmd.Wrap(text, s.width()) {
			fmt.Fprintln(s.Out, s.Style.Dim(l))
		}
	} else if !s.Quiet {
		fmt.Fprintln(s.Err, text)
	}
}

func (s *session) warn(text string) {
	if !s.Quiet {
		s.hint("warning: " + screen.Line(text))
	}
}

// complain shows an error.
func (s *session) complain(err error) {
	what, hint := s.Explain(err)
	if s.Size == nil {
		if s.failed == nil && !errors.Is(err, errUnknown) {
			s.failed = err
		}
		fmt.Fprintf(s.Err, "ragflow: %s\n", screen.Line(what))
		if hint != "" && !s.Quiet {
			fmt.Fprintf(s.Err, "hint: %s\n", hint)
		}
		return
	}
	for _, l := range termmd.Wrap(screen.Line(what), s.width()) {
		s.say(s.Style.SGR("31", l))
	}
	if hint != "" {
		s.hint(hint)
	}
	s.say("")
}

func (s *session) accent(text string) string { return s.Style.SGR("1;36", text) }
func (s *session) faint(text string) string  { return s.Style.SGR("36", text) }

// clip cuts a line to a width, if there is a screen.
func (s *session) clip(text string, width int) string {
	if s.Size == nil {
		return text
	}
	return ansi.Truncate(text, max(width, 8), "…")
}

func when(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") + " UTC" }
