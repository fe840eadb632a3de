package main

import (
	"math"
	"strconv"

	"example.com/ragflow"
)

// rankingSettings are the numbers of the search by words.
func rankingSettings() (rows []setting, defaults map[string][]string) {
	preset := ragflow.DefaultRanking()
	defaults = map[string][]string{}
	for _, n := range []struct {
		name, key, allowed string
		most               float64
		field              func(*ragflow.Ranking) *float64
	}{
		{"BM25_K1", "bm25_k1", "a number from 0 to 10", 10, func(r *ragflow.Ranking) *float64 { return &r.K1 }},
		{"BM25_B", "bm25_b", "a number from 0 to 1", 1, func(r *ragflow.Ranking) *float64 { return &r.B }},
		{"BM25_TITLE", "bm25_title", "a number from 0 to 100", 100, func(r *ragflow.Ranking) *float64 { return &r.Title }},
		{"BM25_HEADINGS", "bm25_headings", "a number from 0 to 100", 100, func(r *ragflow.Ranking) *float64 { return &r.Heading }},
		{"BM25_DOCUMENT", "bm25_document", "a number from 0 to 100", 100, func(r *ragflow.Ranking) *float64 { return &r.Document }},
	} {
		defaults[n.name] = []string{strconv.FormatFloat(*n.field(&preset), 'g', -1, 64)}
		rows = append(rows, setting{
			name: n.name, key: n.key, allowed: n.allowed,
			set: func(c *ragflow.Config, v []string) bool {
				f, err := strconv.ParseFloat(v[0], 64)
				if c.Retrieval.Ranking == nil {
					r := ragflow.DefaultRanking()
					c.Retrieval.Ranking = &r
				}
				*n.field(c.Retrieval.Ranking) = f
				return err == nil && !math.IsNaN(f) && f >= 0 && f <= n.most
			},
		})
	}
	return rows, defaults
}
