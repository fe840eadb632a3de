package ragflow_test

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/ragflow"
)

// TestQueryLogOfACrowd lets 100 clients ask at once, in turn with and without the log. The log is
// complete: it has the run of each reply. The times are reported only, for a busy machine has no
// steady ones: RAGFLOW_FULL=1 takes a minute for each.
func TestQueryLogOfACrowd(t *testing.T) {
	const clients = 100
	slice, rounds := 500*time.Millisecond, 2
	if os.Getenv("RAGFLOW_FULL") != "" {
		slice, rounds = 5*time.Second, 12
	}
	docs, data := library(t), t.TempDir()
	logging := open(t, ragflow.Config{DataDir: data, Docs: []string{docs}})
	silent := open(t, ragflow.Config{DataDir: t.TempDir(), Docs: []string{docs}, QueryLogDays: -1})
	for _, a := range []*ragflow.Assistant{logging, silent} {
		ask(t, a, "", "How do I water a basil plant?") // makes the index and the vectors
	}
	var mu sync.Mutex
	var runs []string
	crowd := func(a *ragflow.Assistant) (times []time.Duration) {
		end := time.Now().Add(slice)
		var group sync.WaitGroup
		for i := range clients {
			group.Go(func() {
				for k := 0; time.Now().Before(end); k++ {
					began := time.Now()
					reply, err := a.Ask(t.Context(), ragflow.Question{Text: fmt.Sprintf("How do I water plant %d of %d?", k%7, i%7)})
					d := time.Since(began)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					times = append(times, d)
					if a == logging {
						runs = append(runs, reply.RunID)
					}
					mu.Unlock()
				}
			})
		}
		group.Wait()
		return times
	}
	var with, without []time.Duration
	for round := range rounds {
		first, second := &with, &without
		a, b := logging, silent
		if round%2 == 1 { // neither is always first
			first, second, a, b = second, first, b, a
		}
		*first = append(*first, crowd(a)...)
		*second = append(*second, crowd(b)...)
	}
	r := analytics(t, logging, ragflow.AnalyticsQuery{})
	known := map[string]bool{}
	for _, row := range queryLog(t, data) {
		known[row.ID] = true
	}
	missing := 0
	for _, id := range runs {
		if !known[id] {
			missing++
		}
	}
	if missing > 0 || r.Missing > 0 || len(known) != len(runs)+1 || r.Questions != len(runs)+1 {
		t.Errorf("%d questions were asked and one before, the log has %d; %d are missing, %d of them are counted", len(runs), r.Questions, missing, r.Missing)
	}
	slices.Sort(with)
	slices.Sort(without)
	at := func(times []time.Duration, p int) time.Duration { return times[len(times)*p/100] }
	t.Logf("with the log: %d questions, p50 %v, p99 %v; without: %d questions, p50 %v, p99 %v; p99 with/without %.3f",
		len(with), at(with, 50), at(with, 99), len(without), at(without, 50), at(without, 99), float64(at(with, 99))/float64(at(without, 99)))
}
