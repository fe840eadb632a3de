package load

import (
	"io"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// A page is parsed by a parser that does not tell where things stood. So each
// run of text is given a mark first, a number of a line between two
// noncharacters, and the marks are read and dropped when the text is taken from
// the tree.
const (
	markOpen  = '\uFDD0'
	markClose = '\uFDD1'
)

// maxTokens is how many tags and texts a page may have to be parsed into a
// tree, which takes some hundred bytes for each.
const maxTokens = 400_000

// formatting are the elements that the parser opens again behind a block that
// ended before them. Some thousand of them multiply without bound, and their
// names say nothing to us: they become span.
var formatting = set("b big em font i nobr s small strike strong tt u") //nolint:gochecknoglobals // a table

// raw are the elements whose content is no text for a reader.
var raw = set("script style iframe noembed noframes noscript") //nolint:gochecknoglobals // a table

// breakout are the elements that end a drawing or a formula around them.
//
//nolint:gochecknoglobals // a table
var breakout = set(`b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li
	listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var foreignobject`)

func set(names string) map[string]bool {
	out := map[string]bool{}
	for n := range strings.FieldsSeq(names) {
		out[n] = true
	}
	return out
}

// marker rewrites a page token by token: texts get marks, comments, scripts and
// drawings go, formatting loses its name.
type marker struct {
	z      *html.Tokenizer
	out    strings.Builder
	line   int // of the token
	tokens int
	drawn  string // svg or math while inside of one
	depth  int
	mute   bool // the next text is that of a raw element
}

// mark returns the marked page, and false where it has too many tokens.
func mark(page string) (string, bool) {
	if strings.ContainsAny(page, string([]rune{markOpen, markClose})) {
		page = strings.Map(dropMarks, page)
	}
	m := marker{z: html.NewTokenizer(strings.NewReader(page)), line: 1}
	m.out.Grow(len(page) + len(page)/4)
	for {
		kind := m.z.Next()
		token := string(m.z.Raw()) // a copy: what comes next changes the bytes
		if kind == html.ErrorToken {
			return m.out.String(), m.z.Err() == io.EOF //nolint:errorlint // what the tokenizer documents
		}
		if m.tokens++; m.tokens > maxTokens {
			return "", false
		}
		m.token(kind, token)
		m.line += strings.Count(token, "\n")
	}
}

func dropMarks(r rune) rune {
	if r == markOpen || r == markClose {
		return -1
	}
	return r
}

func (m *marker) token(kind html.TokenType, token string) {
	switch kind {
	case html.TextToken:
		if m.drawn == "" && !m.mute {
			m.text(token)
		}
		m.mute = false
	case html.StartTagToken, html.SelfClosingTagToken:
		name, more := m.z.TagName()
		m.start(string(name), token, kind == html.SelfClosingTagToken, more)
	case html.EndTagToken:
		name, _ := m.z.TagName()
		m.end(string(name), token)
	case html.DoctypeToken:
		m.out.WriteString(token)
	case html.CommentToken, html.ErrorToken:
	}
}

func (m *marker) text(token string) {
	body := strings.TrimLeft(token, " \t\r\n\f")
	space := token[:len(token)-len(body)]
	m.out.WriteString(space)
	if body == "" {
		return // white space decides about the shape of the tree and must stay alone
	}
	if strings.Contains(body, "&#") {
		if s := string(m.z.Text()); strings.ContainsAny(s, string([]rune{markOpen, markClose})) {
			body = html.EscapeString(strings.TrimLeft(strings.Map(dropMarks, s), " \t\r\n\f"))
		}
	}
	m.out.WriteString(lineMark(m.line + strings.Count(space, "\n")))
	m.out.WriteString(body)
}

func lineMark(line int) string {
	return string(markOpen) + strconv.Itoa(line) + string(markClose)
}

func (m *marker) start(name, token string, closed, attributes bool) {
	if m.drawn != "" {
		if !breakout[name] {
			if name == m.drawn && !closed {
				m.depth++
			}
			if closed || name == "title" {
				m.z.NextIsNotRawText()
			}
			return
		}
		m.drawn = ""
	}
	m.mute = raw[name]
	switch {
	case name == "svg" || name == "math":
		if name == "math" && attributes {
			m.formula()
		}
		if !closed {
			m.drawn, m.depth = name, 1
		}
	case name == "code":
		m.out.WriteString("<" + codeElement + token[1+len(name):])
	case formatting[name]:
		m.out.WriteString("<span" + token[1+len(name):])
	default:
		m.out.WriteString(token)
	}
}

// codeElement stands for code, which is formatting too but has a meaning.
const codeElement = "ragflow-code"

// formula writes what a formula says in words.
func (m *marker) formula() {
	for {
		key, value, more := m.z.TagAttr()
		if string(key) == "alttext" {
			m.out.WriteString(lineMark(m.line) + html.EscapeString(strings.Map(dropMarks, string(value))))
		}
		if !more {
			return
		}
	}
}

func (m *marker) end(name, token string) {
	switch {
	case m.drawn != "":
		if name == m.drawn {
			if m.depth--; m.depth == 0 {
				m.drawn = ""
			}
		}
	case name == "code":
		m.out.WriteString("</" + codeElement + ">")
	case formatting[name]:
		m.out.WriteString("</span>")
	default:
		m.out.WriteString(token)
	}
}
