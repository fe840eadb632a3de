package settings

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"example.com/ragflow/internal/prices"
	"example.com/ragflow/llm"
	"example.com/ragflow/search"
)

// setter sets a value, and reports whether it is allowed.
type setter = func(value string) bool

// or also allows a word that keeps the default.
func or(word string, set setter) setter {
	return func(v string) bool { return v == word || set(v) }
}

// fields splits a text at spaces and commas.
func fields(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

func text(to *string) setter {
	return func(v string) bool { *to = v; return true }
}

func name(to *string) setter {
	return func(v string) bool { *to = v; return !strings.ContainsAny(v, " \t\r\n") }
}

func oneOf(words []string, to *string) setter {
	return func(v string) bool { *to = v; return slices.Contains(words, v) }
}

func truth(to *bool) setter {
	return func(v string) bool { *to = v == "true"; return v == "true" || v == "false" }
}

func whole(low, high int, to *int) setter {
	return func(v string) bool {
		n, err := strconv.Atoi(v)
		*to = n
		return err == nil && n >= low && n <= high
	}
}

func numeric(low, high float64, to *float64) setter {
	return func(v string) bool {
		f, err := strconv.ParseFloat(v, 64)
		*to = f
		return err == nil && f >= low && f <= high // NaN is neither
	}
}

func fraction(to *float64) setter { return numeric(math.SmallestNonzeroFloat64, 1, to) }

func duration(to *time.Duration) setter {
	return func(v string) bool {
		d, err := time.ParseDuration(v)
		*to = d
		return err == nil && d > 0
	}
}

func address(to *string) setter {
	return func(v string) bool {
		_, err := llm.CheckBaseURL(v)
		*to = strings.TrimRight(v, "/")
		return err == nil
	}
}

// ownPrices reads words of the form MODEL=2.5/10, or MODEL=0.1 for a model that writes nothing.
func ownPrices(to *map[string]llm.PerMillion) setter {
	return func(v string) bool {
		*to = map[string]llm.PerMillion{}
		for _, w := range fields(v) {
			model, p, ok := prices.Parse(w)
			if !ok {
				return false
			}
			(*to)[model] = p
		}
		return true
	}
}

// alpha reads the weight of the dense leg; 0 and 1 search by one leg alone.
func alpha(d *search.Dense) setter {
	return func(v string) bool {
		var f float64
		ok := numeric(0, 1, &f)(v)
		switch f {
		case 0:
			d.Leg = search.LegLexical
		case 1:
			d.Leg = search.LegDense
		default:
			d.Alpha = f
		}
		return ok
	}
}

// weight reads the weight of a leg. The first one that is set gives the others their defaults.
func weight(all *search.Weights, to *float64) setter {
	return func(v string) bool {
		if *all == (search.Weights{}) {
			*all = search.Weights{Dense: 0.7, Lexical: 0.3}
		}
		return numeric(0, 1, to)(v)
	}
}
