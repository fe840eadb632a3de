package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of the words that indicate the shape of an answer.
const (
	oftenAsked = 10 // articles that need a question with the word
	toldBy     = 40 // words that are kept
)

// learnShape learns from the questions of half 0 which words and pairs of words indicate that the answer is a
// number or a name.
func learnShape(r reader) error {
	type asked struct {
		grams  []string
		number bool
		name   bool
		weight float64
	}
	var all []asked
	count := map[string]int{}
	articles := map[string]map[string]bool{} // that have a question with a word
	for _, s := range []struct {
		corpus, queries, qrels string
		weight                 float64
	}{
		{"beir/squad-v1.1-dev/corpus.jsonl.gz", "beir/squad-v1.1-dev/queries.jsonl.gz", "beir/squad-v1.1-dev/qrels.tsv.gz", 1},
		{"vi/xquad/corpus.vi.jsonl.gz", "vi/xquad/queries.vi.jsonl.gz", "vi/xquad/qrels.tsv", 4},
	} {
		english, err := lines[document](r, "vi/xquad/corpus.en.jsonl.gz")
		if err != nil {
			return err
		}
		byTitle := map[string]string{}
		for _, d := range english {
			byTitle[d.Title] = articleOf(d.ID)
		}
		docs, err := lines[document](r, s.corpus)
		if err != nil {
			return err
		}
		article := map[string]string{}
		for _, d := range docs {
			article[d.ID] = articleOf(d.ID)
			if strings.Contains(d.ID, "#") {
				article[d.ID] = byTitle[d.Title]
			}
		}
		qrels, err := r.qrels(s.qrels)
		if err != nil {
			return err
		}
		queries, err := lines[query](r, s.queries)
		if err != nil {
			return err
		}
		for _, q := range queries {
			if len(q.Metadata.Answers) == 0 || len(qrels[q.ID]) == 0 || halfOf(article[qrels[q.ID][0]]) != 0 {
				continue
			}
			a := q.Metadata.Answers[0]
			x := asked{grams: gramsOf(q.Text), number: strings.ContainsFunc(a, unicode.IsDigit), weight: s.weight}
			x.name = !x.number && isName(a)
			for _, g := range x.grams {
				count[g] += int(s.weight)
				if articles[g] == nil {
					articles[g] = map[string]bool{}
				}
				articles[g][article[qrels[q.ID][0]]] = true
			}
			all = append(all, x)
		}
	}
	var grams []string
	for g, of := range articles {
		if len(of) >= oftenAsked {
			grams = append(grams, g)
		}
	}
	slices.Sort(grams)
	var number, name []float64
	var intercepts [2]float64
	for round := range 2 {
		at := map[string]int{}
		for i, g := range grams {
			at[g] = i
		}
		var sparse [][]int
		var isNumber, isName []bool
		var weights []float64
		for _, a := range all {
			var row []int
			for _, g := range a.grams {
				if i, ok := at[g]; ok && !slices.Contains(row, i) {
					row = append(row, i)
				}
			}
			sparse, weights = append(sparse, row), append(weights, a.weight)
			isNumber, isName = append(isNumber, a.number), append(isName, a.name)
		}
		intercepts, number, name = multinomial(sparse, weights, isNumber, isName, len(grams))
		if round == 0 {
			use := func(g string) float64 {
				i := at[g]
				return (math.Abs(number[i]) + math.Abs(name[i])) * math.Sqrt(float64(count[g]))
			}
			slices.SortFunc(grams, func(a, b string) int { return cmp.Or(cmp.Compare(use(b), use(a)), strings.Compare(a, b)) })
			grams = grams[:min(len(grams), toldBy)]
		}
	}
	fmt.Printf("var shapeIntercepts = [2]float64{%.2f, %.2f}\n", intercepts[0], intercepts[1])
	for i, g := range grams {
		fmt.Printf("%q: {%.1f, %.1f},\n", g, number[i], name[i])
	}
	return nil
}

func gramsOf(s string) []string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && r != '\'' && r != '’'
	})
	out := slices.Clone(words)
	for i := range len(words) - 1 {
		out = append(out, words[i]+" "+words[i+1])
	}
	return out
}

// isName reports whether each longer word of s begins with a capital letter.
func isName(s string) bool {
	found := false
	for w := range strings.FieldsSeq(s) {
		if r, _ := utf8.DecodeRuneInString(w); unicode.IsUpper(r) {
			found = true
		} else if utf8.RuneCountInString(w) > 3 {
			return false
		}
	}
	return found
}

// multinomial learns a regression over three outcomes by gradient descent. The third outcome has the score 0.
func multinomial(rows [][]int, weights []float64, first, second []bool, n int) (intercepts [2]float64, a, b []float64) {
	a, b = make([]float64, n), make([]float64, n)
	all := 0.0
	for _, w := range weights {
		all += w
	}
	const rounds, step, decay = 3000, 4.0, 1e-3
	for range rounds {
		ga, gb := make([]float64, n), make([]float64, n)
		var g0, g1 float64
		for i, row := range rows {
			x, y := intercepts[0], intercepts[1]
			for _, k := range row {
				x, y = x+a[k], y+b[k]
			}
			ex, ey := math.Exp(x), math.Exp(y)
			dx, dy := -ex/(1+ex+ey), -ey/(1+ex+ey)
			if first[i] {
				dx++
			}
			if second[i] {
				dy++
			}
			dx, dy = dx*weights[i]/all, dy*weights[i]/all
			g0, g1 = g0+dx, g1+dy
			for _, k := range row {
				ga[k], gb[k] = ga[k]+dx, gb[k]+dy
			}
		}
		intercepts[0], intercepts[1] = intercepts[0]+step*g0, intercepts[1]+step*g1
		for k := range a {
			a[k], b[k] = a[k]+step*(ga[k]-decay*a[k]), b[k]+step*(gb[k]-decay*b[k])
		}
	}
	return intercepts, a, b
}
