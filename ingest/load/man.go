package load

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// isMan reports whether a name is that of a manual page: ls.1, ls.1.gz, printf.3posix.
func isMan(name string) bool { return manName.MatchString(path.Base(name)) }

var (
	manName  = regexp.MustCompile(`(?i)[^.].*\.[1-8][a-z]{0,8}(\.gz)?$`)
	manTitle = regexp.MustCompile(`(?m)^\.(TH|Dt)\s+"?([^\s"]+)"?\s+"?(\w+)`)
	manWord  = regexp.MustCompile(`"((?:[^"]|"")*)"|\S+`) // of a macro
)

const maxMan = 16 << 20 // bytes of a manual page

// readMan makes the text of a manual page in the macros man or mdoc: headings, paragraphs,
// entries of lists, and examples as code. It is here because the libraries for roff only write it.
func (d *draft) readMan(data []byte) error {
	if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		most := min(budgetOf(d.size).unpacked, maxMan)
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err == nil {
			data, err = io.ReadAll(io.LimitReader(r, most+1))
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrBroken, err)
		}
		if int64(len(data)) > most {
			return fmt.Errorf("%w: it unpacks to more than %s", ErrTooLarge, inBytes(most))
		}
	}
	if err := d.decode(data); err != nil {
		return err
	}
	title := manTitle.FindStringSubmatch(d.Text)
	if title == nil {
		return fmt.Errorf("%w: %s, and it is no manual page", ErrNoLoader, path.Ext(d.Source))
	}
	r := manReader{builder: d.builder()}
	n := 0
	for line := range strings.Lines(d.Text) {
		if n++; len(r.text) == 0 {
			r.line = n
		}
		r.read(strings.TrimRight(line, " \t\r\n"))
		if err := r.full(); err != nil {
			return err
		}
	}
	r.end()
	r.finish(d)
	d.Title = title[2] + "(" + title[3] + ")"
	return nil
}

// manReader writes the text of a manual page.
type manReader struct {
	builder
	line   int      // of the file, where text begins
	text   []string // of the paragraph
	entry  bool     // the paragraph is an entry of a list
	tagged bool     // the next line is the tag of the entry
	code   bool     // lines stay lines
}

// read reads a line.
func (r *manReader) read(line string) {
	if line == "" || line[0] != '.' && line[0] != '\'' {
		r.add(line)
		return
	}
	macro, rest, _ := strings.Cut(strings.TrimLeft(line[1:], " \t"), " ")
	var words []string
	for _, m := range manWord.FindAllStringSubmatch(rest, -1) {
		if strings.HasPrefix(m[0], `"`) {
			m[0] = strings.ReplaceAll(m[1], `""`, `"`)
		}
		words = append(words, m[0])
	}
	switch macro {
	case "SH", "Sh", "SS", "Ss":
		r.end()
		r.at(r.line)
		r.heading(1+strings.Count(strings.ToUpper(macro), "S"), roff(strings.Join(words, " ")))
	case "PP", "P", "LP", "Pp", "HP", "sp", "RS", "RE", "El":
		r.end()
	case "TP", "IP", "It", "TQ":
		r.end()
		r.entry, r.tagged = true, macro != "IP" && len(words) < 1 || macro == "TP"
		if macro == "IP" && len(words) > 0 {
			words = words[:1] // the second is a width
		}
		if tag := inline(words); !r.tagged && utf8.RuneCountInString(tag) > 1 {
			r.text = append(r.text, tag, "\n")
		} else if !r.tagged {
			r.text = append(r.text, tag) // a bullet
		}
	case "nf", "EX", "fi", "EE", "Bd", "Ed":
		r.end()
		r.code = macro == "nf" || macro == "EX" || macro == "Bd"
	case "B", "I", "SM", "SB", "Nm", "Nd", "Fl", "Ar", "Op", "Xr", "Pa", "Ev", "Cm", "Ic", "Li", "Dq", "Sq", "Em", "Sy", "Va", "Dv", "Er", "Ql":
		r.add(inline(append([]string{macro}, words...)))
	case "BR", "BI", "IR", "IB", "RB", "RI":
		r.add(strings.Join(words, ""))
	}
}

// add adds a line of text.
func (r *manReader) add(line string) {
	switch line = roff(line); {
	case r.code:
		r.text = append(r.text, line)
	case line == "":
		r.end()
	default:
		if r.text = append(r.text, strings.TrimSpace(line)); r.tagged {
			r.text, r.tagged = append(r.text, "\n"), false
		}
	}
}

// end writes the paragraph.
func (r *manReader) end() {
	text := strings.ReplaceAll(strings.Join(r.text, " "), " \n ", "\n")
	if r.code {
		text = strings.Trim(strings.Join(r.text, "\n"), "\n")
	}
	if strings.TrimSpace(text) != "" {
		r.at(r.line)
		switch {
		case r.code:
			r.begin()
			r.out.WriteString(fenced(text, ""))
		case r.entry:
			r.item(0, text)
		default:
			r.paragraph(text)
		}
	}
	r.text, r.entry, r.tagged = nil, false, false
}

// inline joins the words of a line of mdoc, whose macros may be among them.
func inline(words []string) string {
	var out []string
	dash := ""
	for _, w := range words {
		switch {
		case w == "Fl":
			dash = "-"
		case len(w) == 2 && w[0] >= 'A' && w[0] <= 'Z' && w[1] >= 'a' && w[1] <= 'z', w == "B", w == "I", w == "SM", w == "SB":
		default:
			out, dash = append(out, dash+w), ""
		}
	}
	return roff(strings.Join(out, " "))
}

var (
	roffEscape = regexp.MustCompile(`\\(f(\(..|\[[^\]]*\]|.)|s[-+]?\d|\*(\(..|\[[^\]]*\]|.)|\((..)|\[([^\]]*)\]|".*|.|$)`)
	// roffSigns are the characters that escapes stand for; others stand for nothing that is seen.
	roffSigns = map[string]string{
		"-": "-", "e": `\`, "\\": `\`, " ": " ", "~": " ", "0": " ", ".": ".", "aq": "'", "'": "'", "`": "`", "bu": "•", "em": "—", "en": "–",
		"lq": "“", "rq": "”", "oq": "‘", "cq": "’", "dq": `"`, "ga": "`", "ha": "^", "ti": "~", "rs": `\`, "co": "©", "<=": "≤", ">=": "≥", "->": "→", "hy": "-",
	}
)

// roff replaces the escapes of roff.
func roff(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return roffEscape.ReplaceAllStringFunc(s, func(escape string) string {
		return roffSigns[strings.Trim(escape[1:], "([]")]
	})
}
