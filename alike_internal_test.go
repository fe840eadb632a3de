package ragflow

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow/internal/beir"
	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/text"
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

// TestMainVerb: the words of a question of SQuAD and of another one about the same passage.
func TestMainVerb(t *testing.T) {
	if x, y := questionWords("What do the auricles do?"), questionWords("What are auricles?"); x == y {
		t.Errorf("both are %q", x)
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

// TestSimilarQuestionsOfPeople compares the questions of SQuAD about one passage. Two of them want the same answer if people
// gave one answer to both.
func TestSimilarQuestionsOfPeople(t *testing.T) {
	dir := golden.Public(t, "beir/squad-v1.1-dev")
	queries, err := beir.Queries(filepath.Join(dir, "queries.jsonl.gz"), filepath.Join(dir, "qrels.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	answers := answersOf(t, filepath.Join(dir, "queries.jsonl.gz"))
	passages := map[string][]beir.Query{}
	for _, q := range queries {
		for id := range q.Gains {
			passages[id] = append(passages[id], q)
		}
	}
	var pairs, alike [2]int // with another answer, with the same one
	for _, about := range passages {
		for i, a := range about {
			for _, b := range about[:i] {
				if text.Clean(a.Text) == text.Clean(b.Text) {
					continue
				}
				same := 0
				if slices.ContainsFunc(answers[a.ID], func(s string) bool { return slices.Contains(answers[b.ID], s) }) {
					same = 1
				}
				pairs[same]++
				if questionWords(a.Text) == questionWords(b.Text) {
					alike[same]++
				}
			}
		}
	}
	t.Logf("same answer: %d of %d pairs have the same words; another answer: %d of %d", alike[1], pairs[1], alike[0], pairs[0])
	if alike[0] > 0 || alike[1] < 4 || pairs[1] < 1000 {
		t.Error("other figures than in docs/caching.md")
	}
}

// answersOf returns the answers of people to each question.
func answersOf(t *testing.T, path string) map[string][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for d := json.NewDecoder(unpacked); d.More(); {
		var q struct {
			ID       string `json:"_id"`
			Metadata struct{ Answers []string }
		}
		if err := d.Decode(&q); err != nil {
			t.Fatal(err)
		}
		for _, a := range q.Metadata.Answers {
			out[q.ID] = append(out[q.ID], strings.TrimPrefix(strings.ToLower(strings.Trim(a, " .,")), "the "))
		}
	}
	return out
}
