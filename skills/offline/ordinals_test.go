package offline_test

import (
	"strings"
	"testing"

	"example.com/ragflow/skills/offline"
	"example.com/ragflow/state"
)

// TestPlacesInAList puts the item of the last list in the place of what points to it.
func TestPlacesInAList(t *testing.T) {
	memory := state.Memory{Recent: []state.Exchange{{Question: "Which engines are there?", Items: []string{"The copper engine.", "The silver engine.", "The golden engine."}}}}
	for question, want := range map[string]string{
		"What does the second one do?":   "What does The silver engine do?",
		"Co robi ta druga?":              "Co robi The silver engine?",
		"A ta druga?":                    "A The silver engine?",
		"Jak mam użyć tej drugiej?":      "Jak mam użyć The silver engine?",
		"Ta druga jest szybsza?":         "The silver engine jest szybsza?",
		"Opowiedz mi coś o tym trzecim":  "Opowiedz mi coś o The golden engine",
		"Ta druga, jak ją uruchomić?":    "The silver engine, jak ją uruchomić?",
		"Czym jest ta druga baza danych": "",
		"Cái thứ hai là gì?":             "The silver engine là gì?",
		"Còn cái thứ hai thì sao?":       "Còn The silver engine thì sao?",
		"Làm sao để dùng cái thứ 2?":     "Làm sao để dùng The silver engine?",
		"Thế còn loại thứ hai?":          "Thế còn The silver engine?",
		"Cái đầu tiên dùng để làm gì?":   "The copper engine dùng để làm gì?",
		"Năm thứ hai thì sao?":           "",
	} {
		plan, err := offline.NewRewriter(docs(), docs()).Rewrite(t.Context(), question, memory)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, q := range plan.Queries {
			if strings.Contains(q.Text, "engine") {
				got = q.Text
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
}
