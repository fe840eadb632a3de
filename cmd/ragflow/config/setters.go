package config

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/llm"
	"example.com/ragflow/search"
)

// setter reads a value into a configuration, and reports whether it is allowed.
type setter = func(c *ragflow.Config, value string) bool

// or allows one more word, which leaves the default.
func or(word string, set setter) setter {
	return func(c *ragflow.Config, v string) bool { return v == word || set(c, v) }
}

func text(to func(*ragflow.Config) *string) setter {
	return func(c *ragflow.Config, v string) bool { *to(c) = v; return true }
}

func name(to func(*ragflow.Config) *string) setter {
	return func(c *ragflow.Config, v string) bool { *to(c) = v; return !strings.ContainsAny(v, " \t\r\n") }
}

func oneOf(words []string, to func(*ragflow.Config) *string) setter {
	return func(c *ragflow.Config, v string) bool { *to(c) = v; return slices.Contains(words, v) }
}

func truth(to func(*ragflow.Config) *bool) setter {
	return func(c *ragflow.Config, v string) bool { *to(c) = v == "true"; return v == "true" || v == "false" }
}

func whole(most int, to func(*ragflow.Config) *int) setter {
	return func(c *ragflow.Config, v string) bool {
		n, err := strconv.Atoi(v)
		*to(c) = n
		return err == nil && n >= 1 && n <= most
	}
}

func numeric(least, most float64, to func(*ragflow.Config) *float64) setter {
	return func(c *ragflow.Config, v string) bool {
		f, err := strconv.ParseFloat(v, 64)
		*to(c) = f
		return err == nil && f >= least && f <= most // NaN is neither
	}
}

func fraction(to func(*ragflow.Config) *float64) setter {
	return numeric(math.SmallestNonzeroFloat64, 1, to)
}

// parsePrice reads "2.5/10", or "0.1" for models that write nothing.
func parsePrice(s string) (p llm.PerMillion, ok bool) {
	in, out, _ := strings.Cut(s, "/")
	for i, part := range []string{in, cmp.Or(out, "0")} {
		f, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(f >= 0) || math.IsInf(f, 0) {
			return p, false
		}
		*[]*float64{&p.Input, &p.Output}[i] = f
	}
	return p, true
}

// alpha reads the weight of the dense leg; at its ends one leg searches alone.
func alpha(d *search.Dense, text string) bool {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsNaN(f) || f < 0 || f > 1:
		return false
	case f == 0:
		d.Leg = search.LegLexical
	case f == 1:
		d.Leg = search.LegDense
	default:
		d.Alpha = f
	}
	return true
}

// weights reads "dense=0.7,lexical=0.3"; a leg that is not named has 0. One must
// have more.
func weights(w *search.Weights, text string) bool {
	legs := map[string]*float64{search.LegDense: &w.Dense, search.LegLexical: &w.Lexical, search.LegGraph: &w.Graph}
	all := 0.0
	for part := range strings.SplitSeq(text, ",") {
		leg, number, _ := strings.Cut(part, "=")
		f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		to := legs[strings.TrimSpace(leg)]
		if err != nil || to == nil || !(f >= 0) || math.IsInf(f, 1) {
			return false
		}
		*to = f
		all += f
	}
	return all > 0
}
