// Package screen is the screen of a terminal, for tests of programs that draw
// on one.
//
//	s := screen.New(80, 24)
//	io.Copy(s, pty)
//	fmt.Println(s.Text())
//
// It knows what ragflow writes: text, line ends, SGR styles, hyperlinks, moving
// the cursor up, down, left and right or home, and clearing. A sequence that it
// does not know is kept for Unknown, so that a test sees it.
package screen

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rivo/uniseg"
)

// Screen is a terminal's screen, with all that scrolled off it. It is safe for
// concurrent use.
type Screen struct {
	mu            sync.Mutex
	columns, rows int
	lines         [][]cell // those that scrolled off first
	top           int      // index of the first line of the screen
	row, column   int      // of the cursor; row counts from top
	style, link   string
	rest          string // of a sequence or a rune that is not whole
	unknown       []string
}

// cell is a column of the screen. The columns that a wide cluster covers
// besides its first are empty.
type cell struct {
	text, style, link string
}

// New returns an empty screen.
func New(columns, rows int) *Screen { return &Screen{columns: columns, rows: rows} }

// Write shows what a program wrote. It never fails.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.rest + string(p)
	for in != "" {
		n := s.step(in)
		if n == 0 {
			break
		}
		in = in[n:]
	}
	s.rest = in
	return len(p), nil
}

// step takes one cluster or sequence; 0 means that it is not whole.
func (s *Screen) step(in string) int {
	switch in[0] {
	case '\r':
		s.column = 0
		return 1
	case '\n':
		s.newline()
		return 1
	case '\b':
		s.column = max(s.column-1, 0)
		return 1
	case 0x07:
		return 1
	case 0x1b:
		return s.escape(in)
	}
	if len(in) < 16 && !strings.ContainsAny(in[1:], "\r\n\x1b") && !complete(in) {
		return 0
	}
	cluster, _, width, _ := uniseg.FirstGraphemeClusterInString(in, -1)
	if s.column+width > s.columns { // wraps by itself
		s.column = 0
		s.newline()
	}
	line := s.line()
	for len(*line) < s.column+width {
		*line = append(*line, cell{text: " "})
	}
	(*line)[s.column] = cell{cluster, s.style, s.link}
	for i := 1; i < width; i++ {
		(*line)[s.column+i] = cell{}
	}
	s.column += width
	return len(cluster)
}

// complete reports whether the last rune of a text is whole.
func complete(in string) bool { return strings.ToValidUTF8(in, "") == in }

func (s *Screen) newline() {
	if s.row == s.rows-1 {
		s.top++
	} else {
		s.row++
	}
}

// line is the line the cursor stands in.
func (s *Screen) line() *[]cell {
	for len(s.lines) <= s.top+s.row {
		s.lines = append(s.lines, nil)
	}
	return &s.lines[s.top+s.row]
}

func (s *Screen) escape(in string) int {
	switch {
	case len(in) < 2:
		return 0
	case in[1] == ']':
		end := strings.Index(in, "\x1b\\")
		if end < 0 {
			return 0
		}
		if target, ok := strings.CutPrefix(in[:end], "\x1b]8;;"); ok {
			s.link = target
		} else {
			s.unknown = append(s.unknown, in[:end])
		}
		return end + 2
	case in[1] != '[':
		s.unknown = append(s.unknown, in[:2])
		return 2
	}
	end := strings.IndexFunc(in[2:], func(r rune) bool { return r >= 0x40 && r <= 0x7e })
	if end < 0 {
		return 0
	}
	s.control(in[2:2+end], in[2+end])
	return 3 + end
}

func (s *Screen) control(parameters string, final byte) {
	n, err := strconv.Atoi(parameters)
	if err != nil {
		n = 1
	}
	switch final {
	case 'A':
		s.row = max(s.row-n, 0)
	case 'B':
		s.row = min(s.row+n, s.rows-1)
	case 'C':
		s.column = min(s.column+n, s.columns-1)
	case 'D':
		s.column = max(s.column-n, 0)
	case 'H':
		s.row, s.column = 0, 0
	case 'J', 'K':
		s.clear(final, parameters)
	case 'm':
		s.style = parameters
		if parameters == "0" {
			s.style = ""
		}
	case 'h', 'l':
		if parameters != "?2004" {
			s.unknown = append(s.unknown, parameters+string(final))
		}
	default:
		s.unknown = append(s.unknown, parameters+string(final))
	}
}

func (s *Screen) clear(final byte, parameters string) {
	line := s.line()
	switch {
	case parameters == "2" && final == 'J':
		s.lines = s.lines[:s.top]
	case parameters == "2":
		*line = nil
	case parameters == "" || parameters == "0":
		*line = (*line)[:min(len(*line), s.column)]
		if final == 'J' {
			s.lines = s.lines[:s.top+s.row+1]
		}
	default:
		s.unknown = append(s.unknown, parameters+string(final))
	}
}

// Text returns the lines without trailing spaces, those that scrolled off
// first, and no empty ones at the end.
func (s *Screen) Text() string { return s.render(false) }

// Styled is Text with marks where the style changes, ⟨1;36⟩ and ⟨⟩ for none, and
// ⟨→address⟩ around hyperlinks.
func (s *Screen) Styled() string { return s.render(true) }

// Cursor returns where the cursor stands on the screen, from 0.
func (s *Screen) Cursor() (row, column int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.row, s.column
}

// Unknown returns the sequences that were not understood.
func (s *Screen) Unknown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.unknown)
}

func (s *Screen) render(styled bool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, l := range s.lines {
		var b strings.Builder
		var style, link string
		mark := func(c cell) {
			if styled && c.link != link {
				b.WriteString("⟨→" + c.link + "⟩")
			}
			if styled && c.style != style {
				b.WriteString("⟨" + c.style + "⟩")
			}
			style, link = c.style, c.link
		}
		for _, c := range l {
			if c.text == "" {
				continue
			}
			mark(c)
			b.WriteString(c.text)
		}
		mark(cell{})
		out = append(out, strings.TrimRight(b.String(), " "))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return strings.Join(out, "\n") + "\n"
}
