package text

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// segmented is the twin of Append that leaves all fields to UAX #29, and
// remembers nothing.
func segmented(a *analyzer, s string) []Token {
	r := run{a: a, c: &cache[string]{}, s: s}
	for at := 0; at < len(s); {
		start, end := spacelessRun(s, at)
		r.segments(at, start)
		r.spaceless(start, end)
		at = end
	}
	return r.out
}

// fields are pieces of text that plain must take as segments does, or leave.
var fields = []string{
	"word", "Word", "WORD", "wOrd", "WordCase", "iOS", "IPv6", "URLs", "HTTPServer", "HTTPs", "v1", "v1.2", "V1.2.3-rc1", "p53", "TP53s", "2P",
	"2003", "007", "24,000", "24,00", "1.8", "1,2.3", ".5", "5.", "1.a", "a.1", "3,4-dimethyl", "3'UTR", "5'-end", "don't", "cells'", "'quoted'", "rock'n'roll",
	"diffusion-weighted", "a-b-c", "-a", "--mount", "a-", "a--b", "-", "_", "_a", "a_b", "a_-b", "a_", "1_2", "C++", "C#", "F#,", "c++11", "x#y", "a#",
	"(n", "[3]", "(Fig.", "e.g.,", "i.e.", "and/or", "123/NĐ-CP", "2023/QH15", "15/2020/TT-BTC", "1-2/AB", "host:port", "image:tag", "end:", "a:1", "25%", "%a", "\"said\"", "a\"b",
	"{x}", "(a(b", "a)b", "“quoted”", "naïve", "a\u0301b", "\u0301a", "\u00ada", "a\u00adb", "\u200da", "日本", "a日", "日-a", "đường", "\u00a0a", "a\u000bb", "\xff", "a\xffb", "0\xe00", "\xf4\xf4\xf4 \xf400", "...", "''", "O'Neil", "l'eau",
	strings.Repeat("x", maxTerm+5), strings.Repeat("1", maxTerm+5), strings.Repeat("a-", maxTerm) + "b",
}

func TestPlainFields(t *testing.T) {
	var texts []string
	for _, a := range fields {
		texts = append(texts, a)
		for _, b := range fields {
			texts = append(texts, a+b, a+" "+b, a+"\t-"+b+"\n")
		}
	}
	compareTwins(t, texts...)
}

// compareTwins fails where an analyzer, with what it remembers, differs from
// its twin.
func compareTwins(t *testing.T, texts ...string) {
	t.Helper()
	for _, a := range []*analyzer{englishAnalyzer, plainAnalyzer, vietnameseAnalyzer.words, languageAnalyzers()["pl"], languageAnalyzers()["fr"]} {
		for _, s := range texts {
			if want, got := segmented(a, s), a.Append(nil, s); !slices.Equal(got, want) {
				t.Fatalf("%s: Append(%q) (-twin +got):\n%s", a.name, s, cmp.Diff(want, got))
			}
			if got, want := isVietnamese(s), mostlyVietnamese(s[:min(len(s), maxLanguage)]); got != want {
				t.Fatalf("isVietnamese(%q) = %v, want %v", s, got, want)
			}
		}
	}
}

func FuzzPlainFields(f *testing.F) {
	for _, s := range fields {
		f.Add(s + " " + s)
	}
	f.Fuzz(func(t *testing.T, s string) { compareTwins(t, s) })
}

// TestNumbersAreTheirTerms holds the shortcut of part true for all languages.
func TestNumbersAreTheirTerms(t *testing.T) {
	analyzers := []*analyzer{englishAnalyzer, plainAnalyzer, vietnameseAnalyzer.words}
	for _, a := range languageAnalyzers() {
		analyzers = append(analyzers, a)
	}
	for _, a := range analyzers {
		for _, n := range []string{"0", "7", "10", "123", "2024", "99999999999999999999", strings.Repeat("5", maxTerm+9)} {
			if got := a.term(n); got != clip(n) {
				t.Errorf("%s: term(%s) = %q", a.name, n, got)
			}
		}
	}
}

func TestCacheForgets(t *testing.T) {
	var c cache[int]
	for i := range 3 * maxCache {
		c.put(strconv.Itoa(i), i)
		if v, ok := c.get("0"); !ok || v != 0 {
			t.Fatalf("after %d words, one that is asked for always: %d, %v", i, v, ok)
		}
	}
	if n := len(c.newer) + len(c.older); n > 2*maxCache {
		t.Errorf("%d words are kept, more than %d", n, 2*maxCache)
	}
	if _, ok := c.get("1"); ok {
		t.Error("a word that nobody asked for is still there")
	}
}
