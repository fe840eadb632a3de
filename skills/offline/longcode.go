package offline

import (
	"math"
	"slices"
	"strings"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// A block of code that is longer than a chunk is cut between its lines. Only the first
// of its chunks holds the line that opens it: the others are told by [state.Cut]. An answer
// shows parts of long blocks.

// outlineInside takes a passage apart that begins in the middle of a block of code: what
// is left of the block, and all behind it.
func outlineInside(src state.Source, name string) ([]unit, []string) {
	s, fence := src.Text, openerOf(src.Cut.Inside)
	if fence.Mark == "" {
		return outline(s, name)
	}
	b := builder{s: s, language: languageOf(fence), lead: -1, head: -1, headings: []string{name}}
	end, behind := len(s), len(s)
	at := 0
	for line := range strings.Lines(s) {
		if fence.Closes(strings.TrimLeft(line, "> \t")) {
			end, behind = at, at+len(line)
			break
		}
		at += len(line)
	}
	b.bare(0, end)
	b.end = behind
	b.prose(behind, len(s))
	return b.out, b.headings
}

// bare appends code that stands in no fence, unless it is blank.
func (b *builder) bare(from, end int) {
	end = from + len(strings.TrimRight(b.s[from:end], " \t\r\n"))
	if from < end {
		b.append(unit{kind: code, bare: true, language: b.language, start: from, end: end, lead: b.leading(), head: -1})
	}
}

// openerOf reads the line that opens a block of code.
func openerOf(line string) text.Fence {
	fence, _ := text.OpenFence(strings.TrimLeft(line, "> \t"))
	return fence
}

// languageOf is what a block of code is written in, by its opening line.
func languageOf(fence text.Fence) string {
	language, _, _ := strings.Cut(fence.Info, " ")
	language, _, _ = strings.Cut(language, "{")
	return language
}

// codeLinesShown is how many lines a part of a long block of code has at most.
const codeLinesShown = 20

// cutCode parts blocks of code where the sources of a joined passage begin, so that each
// part has one source, and those of more than maxCode lines, so that what is asked for is
// shown and not all of it. All parts have the lead of their block.
func cutCode(s string, units []unit, starts []int) []unit {
	var out []unit
	places := make([]int, len(units)) // of each unit in out
	for j, u := range units {
		places[j] = len(out)
		var cuts []int
		if u.kind == code {
			cuts = codeCuts(s, u, starts)
		}
		if len(cuts) > 0 {
			out = append(out, codeParts(s, u, cuts)...)
		} else {
			out = append(out, u)
		}
	}
	if len(out) == len(units) {
		return units
	}
	for i := range out {
		for _, of := range []*int{&out[i].lead, &out[i].head} {
			if *of >= 0 {
				*of = places[*of]
			}
		}
	}
	return out
}

// codeCuts is where a block of code is cut, ascending.
func codeCuts(s string, u unit, starts []int) (cuts []int) {
	for _, at := range starts {
		if u.start < at && at < u.end {
			cuts = append(cuts, at)
		}
	}
	if strings.Count(s[u.start:u.end], "\n") <= maxCode+1 {
		return cuts
	}
	from, all := u.start, append(cuts, u.end)
	for _, end := range all {
		for from < end {
			if from = partEnd(s, from, end); from < end {
				cuts = append(cuts, from)
			}
		}
	}
	slices.Sort(cuts)
	return cuts
}

// partEnd is where a part of a long block of code ends that begins at from: behind the
// blank line, or before the least indented line, that comes last in its second half.
func partEnd(s string, from, end int) int {
	best, least := end, math.MaxInt
	for at, line := from, 0; at < end; line++ {
		if line > codeLinesShown {
			return best
		}
		next := end
		if i := strings.IndexByte(s[at:end], '\n'); i >= 0 {
			next = at + i + 1
		}
		body := s[at:next]
		indent := 2 * (len(body) - len(strings.TrimLeft(body, " \t"))) // before a line…
		if strings.TrimSpace(body) == "" {
			at, indent = next, -1 // …or behind a blank one
		}
		if 2*line > codeLinesShown && indent <= least {
			best, least = at, indent
		}
		at = next
	}
	return end
}

// codeParts are the parts of a block of code that is cut at some places.
func codeParts(s string, u unit, cuts []int) (parts []unit) {
	language, opener := u.language, ""
	if !u.bare {
		opener, _, _ = strings.Cut(s[u.start:u.end], "\n")
		language = languageOf(openerOf(opener))
	}
	end := u.end
	for _, to := range append(cuts, end) {
		u.end = len(strings.TrimRight(s[:to], "\n"))
		if to == end && opener != "" {
			u.end = withoutClosing(s, u)
		}
		if u.start < u.end && strings.TrimSpace(s[u.start:u.end]) != "" {
			parts = append(parts, u)
		}
		u.start, u.bare, u.language = to, true, language
	}
	runsOver := end == len(s) && (len(parts) == 0 || parts[len(parts)-1].end == end)
	for i := range parts {
		if parts[i].part = i + 1; runsOver {
			parts[i].more = -1
			continue
		}
		for _, behind := range parts[i+1:] {
			parts[i].more += strings.Count(s[behind.start:behind.end], "\n") + 1
		}
	}
	return parts
}

// withoutClosing is where the last part of a fenced block of code ends, without the line
// that closes the block.
func withoutClosing(s string, u unit) int {
	at := max(u.start, strings.LastIndexByte(s[:u.end], '\n')+1)
	if fence := openerOf(s[at:u.end]); u.bare && fence.Mark != "" && fence.Info == "" {
		return max(u.start, len(strings.TrimRight(s[:at], "\n")))
	}
	return u.end
}

// partShown reports whether another part of the block of code that a unit is part of is
// chosen.
func (s *selection) partShown(at place) bool {
	units := s.passages[at.passage].units
	block := at.unit - units[at.unit].part
	return units[at.unit].part > 0 && slices.ContainsFunc(s.chosen, func(c place) bool {
		return c.passage == at.passage && units[c.unit].part > 0 && c.unit-units[c.unit].part == block
	})
}

// codeFrom are the parts of a block of code from one on that have room among the lines that
// are shown of one.
func (p *passage) codeFrom(j int) []int {
	out, lines := []int{j}, p.lines(j)
	for j+1 < len(p.units) && p.units[j+1].part == p.units[j].part+1 && p.units[j].part > 0 {
		if j++; lines+p.lines(j) > codeLinesShown {
			break
		}
		out, lines = append(out, j), lines+p.lines(j)
	}
	return out
}
