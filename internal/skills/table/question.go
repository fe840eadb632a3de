package table

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// question is a question whose words are all explained by one table, and its result.
type question struct {
	t          *table
	of         Operation
	counts     bool           // it asks how many, too
	named      []int          // columns
	subjects   []string       // words for the table or its rows, beside names of columns
	conditions map[int]string // values of columns, as they are compared

	column int    // that was calculated; -1 for a count
	result string // as the column writes its numbers
	rows   []int  // that meet the conditions
	shown  []int  // of them: those with the highest or lowest number, else all
}

// explain returns the question as one over the table. ok is false if a word has no place in it, or has several, or if
// several operations are asked for.
func (t *table) explain(words []string) (q *question, ok bool) {
	q = &question{t: t, conditions: map[int]string{}, column: -1}
	for len(words) > 0 {
		column, columns := longest(t.columns, words)
		value, values := longest(t.values, words)
		of, n := signAt(words)
		switch {
		case n > max(columns, values):
			if of != Counting && q.of != Counting && q.of != of {
				return q, false
			}
			q.of, q.counts = max(of, q.of), q.counts || of == Counting
		case columns > values && column.column >= 0:
			n, q.named = columns, append(q.named, column.column)
		case values > columns && value.column >= 0 && q.limit(value):
			n = values
		case columns > 0 || values > 0:
			return q, false
		case emptyWords[words[0]]:
			n = 1
		case rowWords[words[0]] || hasForm(t.title, words[0]):
			n, q.subjects = 1, append(q.subjects, words[0])
		default:
			return q, false
		}
		words = words[n:]
	}
	q.named = slices.DeleteFunc(q.named, func(c int) bool { return q.conditions[c] != "" })
	return q, q.of != comparing && (q.counts || q.of != Counting)
}

// longest returns the longest of some phrases that words begin with, and its length. If there are several, its column
// is -1.
func longest(phrases []phrase, words []string) (best phrase, length int) {
	for _, p := range phrases {
		switch n := len(p.words); {
		case n < length || !startsWith(words, p.words):
		case n == length:
			best.column = -1
		default:
			best, length = p, n
		}
	}
	return best, length
}

// limit adds a condition. It refuses a second value of a column, a part of another value there, and numbers and empty
// words alone: "a" may be a class or mean nothing.
func (q *question) limit(value phrase) bool {
	key := strings.Join(value.words, " ")
	inLonger := func(r row) bool {
		other := r.keys[value.column]
		return other != key && strings.Contains(" "+other+" ", " "+key+" ")
	}
	telling := func(w string) bool { return !emptyWords[w] && strings.Trim(w, "0123456789.,'’") != "" }
	if q.conditions[value.column] != "" || slices.ContainsFunc(q.t.rows, inLonger) || !slices.ContainsFunc(value.words, telling) {
		return false
	}
	q.conditions[value.column] = key
	return true
}

// compute calculates the result from the rows of the table. ok is false if it is not sure: rows are in doubt, a value
// is missing or is no number of the same unit, or the question may be about another column. "The total number of" is
// a count unless a column with numbers is named. A row is one of several for one thing if a column that names it, such
// as "order no.", has a value twice.
func (q *question) compute() (ok bool) {
	if q.t.doubt || !q.meet() {
		return false
	}
	var measures []int
	isMeasure := func(c int) bool { return q.t.numbers[c].Values != nil }
	whole := q.of == summing && !q.counts && !slices.ContainsFunc(q.named, func(c int) bool { return c > 0 })
	for i, c := range q.t.columns {
		named := slices.Contains(q.named, i)
		subject := named || slices.ContainsFunc(q.subjects, func(w string) bool { return hasForm(c.words, w) })
		if isMeasure(i) && (named || whole) {
			measures = append(measures, i)
		} else if !isMeasure(i) && subject && !q.differs(i) {
			return false
		}
	}
	if q.of == Counting || q.counts && len(measures) == 0 && q.of <= totalling {
		q.of, q.result = Counting, strconv.Itoa(len(q.rows))
		return len(measures) == 0 && len(q.named)+len(q.subjects) > 0
	}
	return len(measures) == 1 && q.calculate(measures[0])
}

// meet finds the rows that meet the conditions. It fails if there are none, or if a row lacks a value.
func (q *question) meet() bool {
	for i, r := range q.t.rows {
		meets := true
		for c, key := range q.conditions {
			if r.keys[c] == "" {
				return false
			}
			meets = meets && r.keys[c] == key
		}
		if meets {
			q.rows = append(q.rows, i)
		}
	}
	q.shown = q.rows
	return len(q.rows) > 0
}

// differs reports whether a column has a value in all rows, and no value twice.
func (q *question) differs(column int) bool {
	seen := map[string]bool{}
	for _, i := range q.rows {
		seen[q.t.rows[i].keys[column]] = true
	}
	return len(seen) == len(q.rows) && !seen[""]
}

// calculate sets the result of an operation on a column. It refuses sums of shares.
func (q *question) calculate(column int) bool {
	numbers := q.t.numbers[column]
	var values []*big.Rat
	result := new(big.Rat) // the sum
	for _, i := range q.rows {
		if numbers.Values[i] == nil {
			return false
		}
		values = append(values, numbers.Values[i])
		result.Add(result, numbers.Values[i])
	}
	switch q.of {
	case averaging:
		result.Quo(result, big.NewRat(int64(len(values)), 1))
	case highest:
		result = slices.MaxFunc(values, (*big.Rat).Cmp)
	case lowest:
		result = slices.MinFunc(values, (*big.Rat).Cmp)
	default:
	}
	q.column, q.result = column, numbers.Format(result)
	if q.of < highest {
		return numbers.Unit != "%"
	}
	q.shown = slices.DeleteFunc(slices.Clone(q.rows), func(i int) bool { return numbers.Values[i].Cmp(result) != 0 })
	return true
}
