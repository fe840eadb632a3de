package config

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"example.com/ragflow/llm"
	"example.com/ragflow/search"
)

// setter reads a value into a configuration, and reports whether it is allowed.
type setter = func(value string) bool

// or allows one more word, which leaves the default.
func or(word string, set setter) setter {
	return func(v string) bool { return v == word || set(v) }
}

// words splits a text at spaces and commas.
func words(s string) []string {
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

func whole(least, most int, to *int) setter {
	return func(v string) bool {
		n, err := strconv.Atoi(v)
		*to = n
		return err == nil && n >= least && n <= most
	}
}

func numeric(least, most float64, to *float64) setter {
	return func(v string) bool {
		f, err := strconv.ParseFloat(v, 64)
		*to = f
		return err == nil && f >= least && f <= most // NaN is neither
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

// price reads "2.5/10", or "0.1" for models that write nothing.
func price(to **llm.PerMillion) setter {
	return func(v string) bool {
		in, out, _ := strings.Cut(v, "/")
		*to = &llm.PerMillion{}
		return amount(in, &(*to).Input) && amount(cmp.Or(out, "0"), &(*to).Output)
	}
}

// prices reads words of the form MODEL=2.5/10.
func prices(to *map[string]llm.PerMillion) setter {
	return func(v string) bool {
		*to = map[string]llm.PerMillion{}
		for _, w := range words(v) {
			model, text, _ := strings.Cut(w, "=")
			p := new(llm.PerMillion)
			if model == "" || !price(&p)(text) {
				return false
			}
			(*to)[model] = *p
		}
		return true
	}
}

func amount(text string, to *float64) bool {
	return numeric(0, math.MaxFloat64, to)(strings.TrimSpace(text))
}

// alpha reads the weight of the dense leg; at its ends one leg searches alone.
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

// weight reads the weight of a leg. One that is set makes the others count as their
// defaults.
func weight(all *search.Weights, to *float64) setter {
	return func(v string) bool {
		if *all == (search.Weights{}) {
			*all = search.Weights{Dense: 0.7, Lexical: 0.3}
		}
		return numeric(0, 1, to)(v)
	}
}
