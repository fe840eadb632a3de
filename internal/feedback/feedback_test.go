package feedback_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/feedback"
)

// stored writes ratings into a new data folder, oldest first, and reads them.
func stored(t *testing.T, ratings ...feedback.Feedback) *feedback.List {
	t.Helper()
	dir := t.TempDir()
	for i := range ratings {
		if err := feedback.AppendFeedback(dir, &ratings[i]); err != nil {
			t.Fatal(err)
		}
	}
	list, err := feedback.ReadFeedback(dir)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func rating(run int, rating string, dense, lexical float64) feedback.Feedback {
	return feedback.Feedback{RunID: strconv.Itoa(run), Rating: rating, Legs: map[string]float64{"dense": dense, "lexical": lexical}}
}

// TestWeights checks what ratings teach of the legs: its direction, its bound, that an answer counts once, and a reset.
func TestWeights(t *testing.T) {
	many := func(n int, of string) (out []feedback.Feedback) {
		for i := range n {
			out = append(out, rating(i, of, 1, 0.25))
		}
		return out
	}
	once := math.Exp(0.05 * (0.8 - 0.5))
	for _, tt := range []struct {
		name    string
		ratings []feedback.Feedback
		dense   float64 // its factor; that of the other leg is its inverse
	}{
		{"one good answer", many(1, feedback.RatingUp), once},
		{"one bad answer", many(1, feedback.RatingDown), 1 / once},
		{"the last rating counts", append(many(1, feedback.RatingUp), many(1, feedback.RatingDown)...), 1 / once},
		{"the same answer, often", append(many(1, feedback.RatingUp), many(1, feedback.RatingUp)...), once},
		{"bound above", many(1000, feedback.RatingUp), 2},
		{"bound below", many(1000, feedback.RatingDown), 0.5},
		{"after a reset", append(append(many(1000, feedback.RatingUp), feedback.Feedback{Rating: feedback.Reset}), rating(7, feedback.RatingUp, 1, 0.25)), once},
		{"one leg", []feedback.Feedback{{RunID: "1", Rating: feedback.RatingUp, Legs: map[string]float64{"lexical": 1}}}, 0},
		{"found by none", []feedback.Feedback{rating(1, feedback.RatingUp, 0, 0)}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := stored(t, tt.ratings...).Weights
			if math.Abs(got["dense"]-tt.dense) > 1e-12 || tt.dense > 0 && math.Abs(got["lexical"]-1/tt.dense) > 1e-12 {
				t.Errorf("factors %v, want %v of dense", got, tt.dense)
			}
		})
	}
}

// TestWeightsOfChance checks that ratings that have nothing to do with the legs change little.
func TestWeightsOfChance(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var ratings []feedback.Feedback
	for i := range 100 {
		of := []string{feedback.RatingUp, feedback.RatingDown}[random.IntN(2)]
		ratings = append(ratings, rating(i, of, random.Float64(), random.Float64()))
	}
	for leg, f := range stored(t, ratings...).Weights {
		if f < 0.85 || f > 1.18 {
			t.Errorf("%s has the factor %v", leg, f)
		}
	}
}

// TestLike checks both sides of the threshold of R16.
func TestLike(t *testing.T) {
	words := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "word%d ", i)
		}
		return b.String()
	}
	list := stored(t,
		feedback.Feedback{RunID: "0.69", Question: words(31, 131)},
		feedback.Feedback{RunID: "0.70", Question: words(30, 130)},
		feedback.Feedback{RunID: "0.99", Question: words(1, 101)},
	)
	var got []string
	for _, f := range list.Like(words(0, 100)) {
		got = append(got, f.RunID)
	}
	if diff := cmp.Diff([]string{"0.99", "0.70"}, got); diff != "" {
		t.Errorf("alike (-want +got):\n%s", diff)
	}
}

func TestDataset(t *testing.T) {
	list := stored(t,
		feedback.Feedback{RunID: "a", Question: "Why?", Rating: feedback.RatingDown},
		feedback.Feedback{RunID: "b", Question: "Who?", Rating: feedback.RatingUp, Answer: "Ann & Bo.", Sources: []string{"staff.md"}, Passages: []string{"staff.md:3"}, Quality: new(0.97)},
		feedback.Feedback{RunID: "c", Question: "And when?", Rating: feedback.RatingDown, Answer: "Now.", Better: "In May [Source 1].", Before: []string{"Who?"}},
		feedback.Feedback{RunID: "d", Question: "Where?", Rating: feedback.RatingUp, Answer: "Here."},
		feedback.Feedback{RunID: "d", Question: "Where?", Rating: feedback.RatingDown, Answer: "Here."},
	)
	var out strings.Builder
	written, left, err := list.WriteDataset(&out)
	want := `{"id":"b","question":"Who?","expected_answer":"Ann & Bo.","relevant":["staff.md"],"passages":["staff.md:3"],"quality":0.97}
{"id":"c","turns":[{"question":"Who?"},{"question":"And when?","expected_answer":"In May."}]}
`
	if diff := cmp.Diff(want, out.String()); diff != "" || written != 2 || left != 2 || err != nil {
		t.Errorf("%d written, %d left out, %v (-want +got):\n%s", written, left, err, diff)
	}
	if list.Up != 1 || list.Down != 3 {
		t.Errorf("%d good, %d bad", list.Up, list.Down)
	}
}

// TestLongRatings checks that a rating that could not be read again is not stored.
func TestLongRatings(t *testing.T) {
	dir := t.TempDir()
	if err := feedback.AppendFeedback(dir, &feedback.Feedback{Answer: strings.Repeat("x", 1<<20)}); err == nil {
		t.Error("a rating of 1 MiB is stored")
	}
	if err := feedback.AppendFeedback(dir, &feedback.Feedback{Answer: strings.Repeat("x", 1<<19)}); err != nil {
		t.Error(err)
	}
	if list, err := feedback.ReadFeedback(dir); err != nil || len(list.Feedback) != 1 {
		t.Errorf("%d ratings, %v", len(list.Feedback), err)
	}
}

// TestOldLines reads a line as it was before there were more fields.
func TestOldLines(t *testing.T) {
	var f feedback.Feedback
	err := json.Unmarshal([]byte(`{"time":"2026-03-04T05:06:07Z","thread_id":"t","run_id":"r","question":"q","rating":"up","note":"","document":"/d"}`), &f)
	if err != nil || f.RunID != "r" || f.Legs != nil {
		t.Errorf("%+v, %v", f, err)
	}
}
