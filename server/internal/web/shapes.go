package web

import (
	"fmt"
	"html/template"
	"maps"
	"slices"
	"time"
)

// shapes are the functions of the templates that give values their form.
func shapes() template.FuncMap {
	return template.FuncMap{
		"place":   place,
		"percent": func(p float64) string { return fmt.Sprintf("%.0f %%", 100*p) },
		"seconds": func(ms float64) string {
			if ms < 1000 {
				return fmt.Sprintf("%.0f ms", ms)
			}
			return fmt.Sprintf("%.1f s", ms/1000)
		},
		"span": func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) },
		"plus": func(a, b int) int { return a + b },
		"less": func(a, b int) int { return a - b },
		"int":  func(n int64) int { return int(n) },
		"size": func(n int64) string {
			switch {
			case n < 1000:
				return fmt.Sprintf("%d B", n)
			case n < 1e6:
				return fmt.Sprintf("%.1f kB", float64(n)/1e3)
			}
			return fmt.Sprintf("%.1f MB", float64(n)/1e6)
		},
		"moment":             func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"day":                func(t time.Time) string { return t.Local().Format("2006-01-02 15:04") },
		"languagesOfAnswers": answerLanguages,
		"languages":          pageLanguages,
		"themes":             func() []string { return []string{"auto", "light", "dark"} },
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
