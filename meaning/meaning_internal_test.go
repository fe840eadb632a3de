package meaning

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"

	"example.com/ragflow/llm"
)

// TestWeightsAreThoseOfTheName: with other weights or another vocabulary the model needs another name.
func TestWeightsAreThoseOfTheName(t *testing.T) {
	hash := sha256.New()
	hash.Write(weightsFile)
	hash.Write(piecesFile)
	got := modelName + " " + hex.EncodeToString(hash.Sum(nil))
	if want := "built-in/s6-80000 9fc82700443faa64a7bd181942f13f46682607c4630cfc3c7dfb73d88c180c66"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestRerankJudgesTheTokensOfTheReference: TestSequencesAreThoseOfTheTraining does not see what Rerank makes of texts.
func TestRerankJudgesTheTokensOfTheReference(t *testing.T) {
	model, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	m := model.newMachine()
	for _, c := range references(t) {
		if c.Mode != "judge" || c.Title != "" {
			continue
		}
		got, err := model.Rerank(t.Context(), c.Query, []string{c.Passage})
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.judge(t.Context(), c.IDs, slices.Index(c.Segments, 1))
		if err != nil || got.Values[0] != float64(want) {
			t.Errorf("%s: score %v, that of the tokens of the reference is %v, error %v", c.Name, got.Values[0], want, err)
		}
	}
}

// TestAllKernelsGiveTheSameAnswers is for the real weights what TestTextsGiveTheSameBits is for random ones.
func TestAllKernelsGiveTheSameAnswers(t *testing.T) {
	var want llm.Scores
	for _, k := range kernels() {
		model, err := open(weightsFile, piecesFile, k)
		if err != nil {
			t.Fatal(err)
		}
		got, err := model.Rerank(t.Context(), "Wann wird gesichert?", []string{"Jede Nacht um zwei Uhr.", "Im Keller."})
		if err != nil {
			t.Fatal(err)
		}
		if want.Values == nil {
			want = got
		}
		if !slices.Equal(got.Values, want.Values) {
			t.Errorf("%s: %v, want %v", k.name, got.Values, want.Values)
		}
	}
}

func TestOpenRefusesAnotherVocabulary(t *testing.T) {
	if _, err := open(weightsFile[:1000], piecesFile, portable()); err == nil {
		t.Error("half a file of weights has no error")
	}
	if _, err := open(weightsFile, piecesFile[:1000], portable()); err == nil {
		t.Error("half a vocabulary has no error")
	}
}
