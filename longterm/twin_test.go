package longterm_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/longterm"
)

// TestRankOfSimpleTwin compares searches with a ranking that reads every fact.
func TestRankOfSimpleTwin(t *testing.T) {
	words := strings.Fields("rivers boats sailing winter summers happy happily trees roots apple apples engine engines painted painting the of with and")
	random := rand.New(rand.NewPCG(1, 2))
	say := func(n int) string {
		var out []string
		for range n {
			out = append(out, words[random.IntN(len(words))])
		}
		return strings.Join(out, " ")
	}
	place := longterm.Namespace{"a"}
	for round := range 40 {
		s, err := longterm.Open(t.Context(), ":memory:", longterm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		facts := map[string]string{}
		for i := range 5 + random.IntN(30) {
			key := fmt.Sprintf("k%02d", i)
			facts[key] = say(1 + random.IntN(12))
			if err := s.Put(t.Context(), place, key, facts[key]); err != nil {
				t.Fatal(err)
			}
		}
		query := say(1 + random.IntN(4))
		found, err := s.Search(t.Context(), nil, longterm.Query{Text: query, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, f := range found {
			got = append(got, f.Key)
		}
		if diff := gocmp.Diff(simpleRank(facts, query), got); diff != "" {
			t.Errorf("round %d, %q (-want +got):\n%s", round, query, diff)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// simpleRank orders the keys of facts by BM25.
func simpleRank(facts map[string]string, query string) []string {
	a := text.For(text.Language(query))
	asked, docs, total, df := map[string]bool{}, map[string][]string{}, 0, map[string]float64{}
	for _, t := range a.Analyze(query) {
		asked[t.Term] = true
	}
	for key, body := range facts {
		seen := map[string]bool{}
		for _, t := range a.Analyze(key + "\n" + body) {
			docs[key] = append(docs[key], t.Term)
			if total++; asked[t.Term] && !seen[t.Term] {
				seen[t.Term] = true
				df[t.Term]++
			}
		}
	}
	n, mean, scores := float64(len(facts)), float64(total)/float64(len(facts)), map[string]float64{}
	keys := []string{}
	for key, terms := range docs {
		tf := map[string]float64{}
		for _, term := range terms {
			tf[term]++
		}
		for term := range asked {
			scores[key] += math.Log(1+(n-df[term]+0.5)/(df[term]+0.5)) * tf[term] * 2.5 / (tf[term] + 1.5*(0.25+0.75*float64(len(terms))/mean))
		}
		if scores[key] = math.Round(scores[key]*1e9) / 1e9; scores[key] > 0 {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(x, y string) int { return cmp.Or(cmp.Compare(scores[y], scores[x]), cmp.Compare(x, y)) })
	return keys
}
