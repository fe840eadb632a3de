package eval_test

import (
	"fmt"
	"math"
	"testing"

	"example.com/ragflow/eval"
)

// graded returns cases with the given scores, true cases first.
func graded(right []float64, wrong ...float64) []eval.Graded {
	var out []eval.Graded
	for _, s := range right {
		out = append(out, eval.Graded{Score: s, True: true})
	}
	for _, s := range wrong {
		out = append(out, eval.Graded{Score: s})
	}
	return out
}

func TestAUROC(t *testing.T) {
	for _, tt := range []struct {
		name   string
		graded []eval.Graded
		want   float64
		ok     bool
	}{
		{"perfect", graded([]float64{0.8, 0.9}, 0.1, 0.2), 1, true},
		{"upside down", graded([]float64{0.1}, 0.8, 0.9), 0, true},
		{"one pair of four is wrong", graded([]float64{0.3, 0.9}, 0.1, 0.5), 0.75, true},
		{"all tied", graded([]float64{0.5, 0.5}, 0.5), 0.5, true},
		{"one tie among two pairs", graded([]float64{0.5}, 0.5, 0.1), 0.75, true},
		{"one kind only", graded([]float64{0.5}), 0, false},
		{"nothing", nil, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := eval.AUROC(tt.graded); got != tt.want || ok != tt.ok {
				t.Errorf("AUROC() = %v, %v, want %v, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestCalibrationError(t *testing.T) {
	cases := graded([]float64{0.15, 0.9, 1.0, 2}, 0.12, 0.8)
	if got, want := eval.CalibrationError(cases), (0.73+0.1+0.8)/6; math.Abs(got-want) > 1e-12 {
		t.Errorf("calibration error %v, want %v", got, want)
	}
	if got := eval.CalibrationError(nil); got != 0 {
		t.Errorf("calibration error of nothing = %v", got)
	}
}

func ExampleCalibrationError() {
	cases := []eval.Graded{{Score: 0.9, True: true}, {Score: 0.8, True: true}, {Score: 0.3}, {Score: 0.7}}
	area, _ := eval.AUROC(cases)
	fmt.Printf("AUROC %.2f, calibration error %.3f\n", area, eval.CalibrationError(cases))
	// Output: AUROC 1.00, calibration error 0.325
}
