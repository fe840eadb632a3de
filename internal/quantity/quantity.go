// Package quantity calculates exactly with a column of numbers as people write them: 1,234.50 or 1.234,50, with a
// unit such as € or kg.
package quantity

import (
	"math/big"
	"regexp"
	"strings"
	"unicode"
)

// Column holds numbers with one unit that are written alike.
type Column struct {
	Values []*big.Rat // nil for an empty text
	Unit   string     // "" without
	Places int        // most decimals
	Years  bool       // all may be years

	notation    notation
	front, back string // of the first number: what is written around its digits
	grouped     bool   // some number has signs between thousands
}

// notation is a way to write numbers: the signs before decimals and between thousands.
type notation struct {
	point, group string
	valid        *regexp.Regexp
}

var notations = func() (out []notation) {
	for _, signs := range []string{".,", ",.", ". ", ", ", ".'", ".’", ",'"} {
		point, group := signs[:1], signs[1:]
		quoted := regexp.QuoteMeta(group)
		out = append(out, notation{point, group, regexp.MustCompile(`^(?:0|[1-9]\d*|[1-9]\d{0,2}(?:` + quoted + `\d{3})+)(?:` + regexp.QuoteMeta(point) + `\d+)?$`)})
	}
	return out
}()

var number = regexp.MustCompile(`^([-−]?)(\p{Sc}\s*|[A-Z]{3} )?([-−]?)(\d[\d.,'’\pZ]*?)(\pZ*(?:(?:\pL|[%‰°]|\p{Sc})[^\d();:]{0,15})?)$`)

// New reads the numbers of a column, in which texts may be empty. ok is false if a text is no number or a code such as
// 007, or if units or signs differ. A lone sign before three digits stands between thousands unless a number shows that
// it does not.
func New(texts []string) (c Column, ok bool) {
	for _, n := range notations {
		if read, valid := n.read(texts); valid && (!ok || read.Places < c.Places) {
			c, ok = read, true
		}
	}
	return c, ok
}

func (n notation) read(texts []string) (c Column, ok bool) {
	c = Column{notation: n, Years: true}
	for _, text := range texts {
		if text == "" {
			c.Values = append(c.Values, nil)
			continue
		}
		m := number.FindStringSubmatch(strings.TrimSpace(text))
		if m == nil {
			return c, false
		}
		sign, unit := strings.ReplaceAll(m[1]+m[3], "−", "-"), strings.TrimSpace(m[2]+m[5])
		digits := strings.Join(strings.FieldsFunc(m[4], unicode.IsSpace), " ")
		if !n.valid.MatchString(digits) || len(sign) > 1 || ok && unit != c.Unit {
			return c, false
		}
		if !ok {
			ok, c.Unit, c.front, c.back = true, unit, m[2], m[5]
		}
		whole, decimals, _ := strings.Cut(digits, n.point)
		plain := strings.ReplaceAll(whole, n.group, "")
		v, _ := new(big.Rat).SetString(sign + plain + "." + decimals + "0")
		c.Values = append(c.Values, v)
		c.Places, c.grouped = max(c.Places, len(decimals)), c.grouped || plain != whole
		c.Years = c.Years && unit == "" && len(digits) == 4 && digits >= "1900" && digits <= "2100"
	}
	return c, ok
}

// Format writes a result as the column writes its numbers. If it has more decimals, it is rounded to two or more.
func (c *Column) Format(v *big.Rat) string {
	places := c.Places
	if exact, ok := v.FloatPrec(); !ok || exact > places {
		places = max(places, 2)
	}
	whole, decimals, found := strings.Cut(new(big.Rat).Abs(v).FloatString(places), ".")
	for i := len(whole) - 3; i > 0 && c.grouped; i -= 3 {
		whole = whole[:i] + c.notation.group + whole[i:]
	}
	if found {
		whole += c.notation.point + decimals
	}
	if v.Sign() < 0 {
		whole = "−" + whole
	}
	return c.front + whole + c.back
}
