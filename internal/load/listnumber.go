package load

import (
	"regexp"
	"strconv"
	"strings"
)

const (
	maxLevels = 10  // of a list
	maxLabel  = 100 // bytes of the pattern of a label
)

// listLevel says how the items of one level of a list are numbered.
type listLevel struct {
	format  string // decimal, decimalZero, lowerLetter, upperLetter, lowerRoman, upperRoman, none or bullet; others count as decimal
	label   string // pattern of the label, in which %1 is the number of the outermost level
	start   int
	restart int  // number of outer levels whose items begin the numbers of this level again
	legal   bool // all numbers of the label are decimal
}

// listCount holds the current number of each level of a list.
type listCount struct {
	at    [maxLevels]int
	begun [maxLevels]bool
}

// bullet is the label of the items of a level in the format bulletFormat.
const bullet, bulletFormat = "-", "bullet"

var placeholder = regexp.MustCompile(`%\d+`)

// next counts an item of a level from 0, and returns its label: "" if none is shown.
func (c *listCount) next(levels *[maxLevels]listLevel, level int) string {
	c.at[level]++
	for i := range level + 1 { // an outer level without an item begins too
		if !c.begun[i] {
			c.at[i], c.begun[i] = levels[i].start, true
		}
	}
	for i := level + 1; i < maxLevels; i++ {
		if levels[i].restart > level {
			c.begun[i] = false
		}
	}
	own := levels[level]
	if own.format == bulletFormat {
		return bullet
	}
	return strings.TrimSpace(placeholder.ReplaceAllStringFunc(own.label, func(s string) string {
		i, _ := strconv.Atoi(s[1:]) // out of range, it is no outer level
		if i < 1 || i > level+1 {
			return ""
		}
		n, format := c.at[i-1], levels[i-1].format
		if own.legal && format != "none" {
			format = "decimal"
		}
		return listNumber(n, format)
	}))
}

// listNumber writes a number in a format. Letters are repeated after z. Numbers that a format lacks are
// decimal.
func listNumber(n int, format string) string {
	const maxRepeats = 30
	switch {
	case format == "none" || format == bulletFormat:
		return ""
	case format == "decimalZero" && n >= 0 && n < 10:
		return "0" + strconv.Itoa(n)
	case format == "lowerLetter" && n > 0 && n <= 26*maxRepeats:
		return strings.Repeat(string(rune('a'+(n-1)%26)), 1+(n-1)/26)
	case format == "lowerRoman" && n > 0 && n < 4000:
		return roman(n)
	case format == "upperLetter" || format == "upperRoman":
		return strings.ToUpper(listNumber(n, "lower"+strings.TrimPrefix(format, "upper")))
	}
	return strconv.Itoa(n)
}

func roman(n int) string {
	values, digits := []int{1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1}, strings.Fields("m cm d cd c xc l xl x ix v iv i")
	out := ""
	for i, value := range values {
		out += strings.Repeat(digits[i], n/value)
		n %= value
	}
	return out
}

// Labels of the items of a list. Those that Markdown knows are its marks, and other ones follow a bullet.
var (
	ordinal    = regexp.MustCompile(`^[0-9]{1,9}[.)]$`)
	enumerator = regexp.MustCompile(`^\(?([0-9]{1,9}|[A-Za-z]{1,5})[.)]{0,2}$`)
)

// labelled writes a paragraph of a list with its label: an item, or a paragraph if it is a clause of a text.
func (w *builder) labelled(label string, depth int, text string) {
	switch {
	case label == bullet, ordinal.MatchString(label):
		w.marked(depth, label, text)
	case enumerator.MatchString(label):
		w.item(depth, label+" "+text)
	default:
		w.paragraph(label + " " + text)
	}
}
