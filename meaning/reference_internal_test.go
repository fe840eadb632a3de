package meaning

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// reference is a case of testdata/reference.json, which scripts/reader/reference.py computed in float32.
type reference struct {
	Name, Mode            string
	Text                  string // of the mode search; the others are of the mode judge
	Query, Title, Passage string
	IDs                   []int32
	Segments              []int
	Pooled                []float64 // the first components of the mean of all tokens
	Logit                 float64
}

func references(t *testing.T) []reference {
	t.Helper()
	data, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []reference
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// TestReference compares with the model in float32. The bytes of weights and activations cost the difference.
func TestReference(t *testing.T) {
	n, err := loadNetwork(weightsFile)
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(n, fastest())
	worst, differences := 1.0, []float64{}
	for _, c := range references(t) {
		if c.Mode == "judge" {
			logit, err := m.judge(t.Context(), c.IDs, slices.Index(c.Segments, 1))
			if err != nil {
				t.Fatal(err)
			}
			differences = append(differences, math.Abs(float64(logit)-c.Logit))
			t.Logf("%s: %.3f, want %.3f", c.Name, logit, c.Logit)
			continue
		}
		vector, err := m.embed(t.Context(), c.IDs)
		if err != nil {
			t.Fatal(err)
		}
		cos := cosine(vector, c.Pooled)
		worst = min(worst, cos)
		t.Logf("%s: cosine %.5f", c.Name, cos)
	}
	var sum float64
	for _, d := range differences {
		sum += d
	}
	mean, most := sum/float64(len(differences)), slices.Max(differences)
	t.Logf("worst cosine %.5f, logits differ by %.3f in the mean and by %.3f at most", worst, mean, most)
	if worst < 0.995 {
		t.Errorf("the worst cosine is %.4f", worst)
	}
}

func cosine(a []float32, b []float64) float64 {
	var ab, aa, bb float64
	for i := range b {
		x, y := float64(a[i]), b[i]
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}
