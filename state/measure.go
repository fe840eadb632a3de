package state

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Measure is a value with an order: a number, a date or a version.
type Measure struct {
	number  float64
	date    time.Time // zero if the value is no date
	version []int     // nil if the value is no version
	year    bool      // a number of four digits, which may mean the first day of a year
}

// dateLayouts returns the date formats that ParseMeasure reads. Times without a zone
// are UTC.
func dateLayouts() []string {
	return []string{
		time.DateOnly, time.RFC3339Nano, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01", "2006/01/02",
		"2 January 2006", "January 2, 2006", "2 Jan 2006", "Jan 2, 2006",
	}
}

// ParseMeasure parses a number, a date such as 2024-06-30, or a version such as
// 1.10.2 or v2.
func ParseMeasure(text string) (Measure, bool) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
		m := Measure{number: n, version: parseVersion(text)}
		m.year = len(text) == 4 && m.version != nil
		return m, true
	}
	for _, layout := range dateLayouts() {
		if t, err := time.Parse(layout, text); err == nil {
			return Measure{date: t}, true
		}
	}
	if v := parseVersion(text); v != nil {
		return Measure{number: math.NaN(), version: v}, true
	}
	return Measure{}, false
}

func parseVersion(text string) []int {
	var out []int
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.ToLower(text), "v"), ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || strings.HasPrefix(part, "+") {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// Compare returns a negative number, 0 or a positive number if m is less than, equal
// to or greater than o. ok is false if they are of different kinds. Compared with a
// date, a year means its first day.
func (m Measure) Compare(o Measure) (order int, ok bool) {
	m, o = m.yearAsDate(o), o.yearAsDate(m)
	switch {
	case !m.date.IsZero() && !o.date.IsZero():
		return m.date.Compare(o.date), true
	case !m.date.IsZero() || !o.date.IsZero():
		return 0, false
	case math.IsNaN(m.number) || math.IsNaN(o.number):
		if m.version == nil || o.version == nil {
			return 0, false
		}
		return slices.Compare(trimZeros(m.version), trimZeros(o.version)), true
	}
	return cmp.Compare(m.number, o.number), true
}

// Same reports whether m and o are the same value: 2 and 2.0 are, but not 1.1 and
// 1.10, which may be versions.
func (m Measure) Same(o Measure) bool {
	if m.version != nil && o.version != nil {
		return slices.Equal(trimZeros(m.version), trimZeros(o.version))
	}
	order, ok := m.Compare(o)
	return ok && order == 0
}

// yearAsDate returns the first day of the year m if o is a date, else m.
func (m Measure) yearAsDate(o Measure) Measure {
	if m.year && !o.date.IsZero() {
		return Measure{date: time.Date(int(m.number), time.January, 1, 0, 0, 0, 0, time.UTC)}
	}
	return m
}

// trimZeros turns 2.0.0 into 2, the same version.
func trimZeros(v []int) []int {
	for len(v) > 1 && v[len(v)-1] == 0 {
		v = v[:len(v)-1]
	}
	return v
}
