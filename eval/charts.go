package eval

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// barChart shows the metrics: a row each, from 0 to 1 over 500 units.
type barChart struct {
	Width, Height int
	Rows          []barRow
}

// barRow is a metric as a bar with its interval; coordinates are those of the
// drawing.
type barRow struct {
	Name, About, Label, Mean, Interval, TargetText, Verdict string

	N                          int
	Y, TextY, Mid, Top, Bottom int
	TargetTop, TargetBottom    int
	Bar, Low, High, Target     float64
}

const (
	barLeft  = 200.0
	barWidth = 500.0
	rowStep  = 24
)

func bars(r *Result) barChart {
	about := map[string]string{}
	for _, m := range r.metrics() {
		about[m.Name] = m.About
	}
	c := barChart{Width: 900}
	for i, m := range r.Summary.Metrics {
		y := i*rowStep + 5
		row := barRow{
			Name: m.Name, About: about[m.Name], N: m.N, TargetText: m.target(),
			Label: fmt.Sprintf("%.3f", m.Mean), Mean: fmt.Sprintf("%.3f", m.Mean), Interval: fmt.Sprintf("%.3f – %.3f", m.Low, m.High),
			Y: y, TextY: y + 11, Mid: y + 7, Top: y + 3, Bottom: y + 11, TargetTop: y - 3, TargetBottom: y + 17,
			Bar: round2(barWidth * m.Mean), Low: barAt(m.Low), High: barAt(m.High),
		}
		row.Label += fmt.Sprintf("  [%.2f, %.2f]", m.Low, m.High)
		if m.Target > 0 {
			row.Target = barAt(m.Target)
			row.Verdict = "no"
			if m.Reached != nil && *m.Reached {
				row.Verdict = "yes"
			}
		}
		c.Rows = append(c.Rows, row)
	}
	c.Height = len(c.Rows)*rowStep + 10
	return c
}

func barAt(v float64) float64 { return round2(barLeft + barWidth*v) }

// round2 keeps two decimals, so that the same figures give the same drawing on
// every machine.
func round2(f float64) float64 { return math.Round(100*f) / 100 }

// chart is a small drawing with two axes.
type chart struct {
	Title, Note                 string
	Width, Height               int
	Left, Right, Floor, Ceiling float64
	Ideal                       bool // draw the diagonal
	Rects                       []rect
	Dots                        []dot
	Texts                       []label
}

type rect struct {
	X, Y, W, H   float64
	Class, Title string
}

type dot struct {
	X, Y, R float64
	Title   string
}

type label struct {
	X, Y        float64
	Class, Text string
}

func newChart(title, note string) chart {
	return chart{Title: title, Note: note, Width: 420, Height: 220, Left: 40, Right: 410, Floor: 190, Ceiling: 15}
}

// x and y place a share of the axes, 0 to 1.
func (c *chart) x(share float64) float64 { return round2(c.Left + (c.Right-c.Left)*share) }
func (c *chart) y(share float64) float64 { return round2(c.Floor - (c.Floor-c.Ceiling)*share) }

func (c *chart) text(x, y float64, class, text string) {
	c.Texts = append(c.Texts, label{x, y, class, text})
}

// scale writes the ends of both axes.
func (c *chart) scale(x0, x1, y1 string) {
	c.text(c.Left, c.Floor+16, "soft mid", x0)
	c.text(c.Right, c.Floor+16, "soft end", x1)
	c.text(c.Left-6, c.Ceiling+5, "soft end", y1)
	c.text(c.Left-6, c.Floor, "soft end", "0")
}

func charts(r *Result) []chart {
	var out []chart
	drawers := []func(*Result) (chart, bool){reliabilityChart, gradeChart, latencyChart, keywordChart}
	if r.Retrieval != nil {
		drawers = []func(*Result) (chart, bool){latencyChart}
	}
	for _, draw := range drawers {
		if c, ok := draw(r); ok {
			out = append(out, c)
		}
	}
	return out
}

// reliabilityChart shows what grades promise against what is true.
func reliabilityChart(r *Result) (chart, bool) {
	c := newChart("Reliability of grades", "Of the questions graded near x, the share that the documents answer. On the dashed line grades promise just what they hold; larger dots stand for more questions.")
	g := r.Summary.Grades
	if g == nil {
		return c, false
	}
	c.Ideal = true
	for _, b := range g.Bins {
		if b.N == 0 {
			continue
		}
		c.Dots = append(c.Dots, dot{
			X: c.x(b.Score), Y: c.y(b.Share), R: round2(3 + 2*math.Sqrt(float64(min(b.N, 100)))),
			Title: fmt.Sprintf("graded %.2f on average: %.0f %% of %s", b.Score, 100*b.Share, plural(b.N, "question")),
		})
	}
	c.scale("0", "1", "1")
	c.text(c.Right, c.Floor-8, "soft end", fmt.Sprintf("AUROC %.3f, calibration error %.3f", g.AUROC, g.CalibrationError))
	return c, true
}

// gradeChart counts grades in twenty steps, those of questions the documents
// answer beside those they do not.
func gradeChart(r *Result) (chart, bool) {
	c := newChart("Grades", "How the passages found were graded. Blue: questions that the documents answer; orange: those they do not. From 0.50 on there is an answer.")
	const steps = 20
	var count [2][steps]int
	most, n := 0, 0
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if o.Error != "" {
			continue
		}
		kind := 0
		if !o.answerable() {
			kind = 1
		}
		at := min(max(int(o.Grade.Score*steps), 0), steps-1)
		count[kind][at]++
		most = max(most, count[0][at]+count[1][at])
		n++
	}
	if n == 0 {
		return c, false
	}
	for at := range steps {
		base := 0.0
		for kind, class := range []string{"bar", "bar2"} {
			v := count[kind][at]
			if v == 0 {
				continue
			}
			h := float64(v) / float64(most)
			c.Rects = append(c.Rects, rect{
				X: c.x(float64(at)/steps) + 1, Y: c.y(base + h), W: round2((c.Right-c.Left)/steps - 2), H: round2(h * (c.Floor - c.Ceiling)), Class: class,
				Title: fmt.Sprintf("%.2f to %.2f: %s", float64(at)/steps, float64(at+1)/steps, plural(v, "question")),
			})
			base += h
		}
	}
	c.scale("0", "1", strconv.Itoa(most))
	c.text(c.x(0.5), c.Floor+16, "soft mid", "0.50")
	return c, true
}

// latencyChart shows every latency, in order.
func latencyChart(r *Result) (chart, bool) {
	c := newChart("Latency", fmt.Sprintf("Each question, the quickest first. Half took at most %.0f ms, 95 %% at most %.0f ms.", r.Summary.Latency.P50, r.Summary.Latency.P95))
	type timed struct {
		id string
		ms float64
	}
	var all []timed
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Error == "" {
			all = append(all, timed{o.ID, o.LatencyMS})
		}
	}
	if len(all) == 0 {
		return c, false
	}
	slices.SortStableFunc(all, func(a, b timed) int {
		switch {
		case a.ms < b.ms:
			return -1
		case a.ms > b.ms:
			return 1
		}
		return 0
	})
	most := max(all[len(all)-1].ms, 1)
	const mostBars = 120 // more would be thinner than a pixel
	step := max(1, (len(all)+mostBars-1)/mostBars)
	n := (len(all) + step - 1) / step
	for i := range n {
		t := all[min(i*step+step-1, len(all)-1)]
		c.Rects = append(c.Rects, rect{
			X: c.x(float64(i) / float64(n)), Y: c.y(t.ms / most), W: round2(max(1, (c.Right-c.Left)/float64(n)-1)), H: round2(t.ms / most * (c.Floor - c.Ceiling)),
			Class: "bar", Title: fmt.Sprintf("%s: %.0f ms", t.id, t.ms),
		})
	}
	c.scale("", "", fmt.Sprintf("%.0f", most))
	return c, true
}

// keywordChart shows the share of expected keywords, question by question.
func keywordChart(r *Result) (chart, bool) {
	c := newChart("Expected keywords", "Share of the expected keywords that each answer holds, in the order of the dataset.")
	const mostBars = 120
	type share struct {
		id string
		v  float64
	}
	var all []share
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if v, ok := o.Metrics[MetricKeywords]; ok {
			all = append(all, share{o.ID, v})
		}
	}
	if len(all) == 0 {
		return c, false
	}
	step := max(1, (len(all)+mostBars-1)/mostBars)
	n := (len(all) + step - 1) / step
	for i := range n {
		part := all[i*step : min(i*step+step, len(all))]
		mean := 0.0
		var ids []string
		for _, p := range part {
			mean += p.v / float64(len(part))
			ids = append(ids, p.id)
		}
		class := "good"
		if mean < 0.5 {
			class = "bad"
		}
		h := max(mean, 0.02) // nothing is to be seen of nothing
		c.Rects = append(c.Rects, rect{
			X: c.x(float64(i) / float64(n)), Y: c.y(h), W: round2(max(1, (c.Right-c.Left)/float64(n)-1)), H: round2(h * (c.Floor - c.Ceiling)),
			Class: class, Title: fmt.Sprintf("%s: %.0f %%", strings.Join(ids, ", "), 100*mean),
		})
	}
	c.scale("", "", "1")
	return c, true
}
