package doors_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ragflow"
)

// maxMemory is how many MB a server may need under load.
const maxMemory = 300

// peak returns the most MB of memory that a process has had; 0 if the system does not say.
func peak(pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	kb, _ := strconv.Atoi(string(regexp.MustCompile(`VmHWM:\s+(\d+)`).FindSubmatch(status)[1])) // of the kernel
	return kb >> 10
}

// at returns the time that a share of all is not above.
func at(times []time.Duration, share float64) time.Duration {
	slices.Sort(times)
	return times[int(share*float64(len(times)-1))]
}

// together calls a function n times at once and returns how long each call took.
func together(n int, f func(i int) error) (times []time.Duration, err error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-start
			began := time.Now()
			fault := f(i)
			mu.Lock()
			defer mu.Unlock()
			if times = append(times, time.Since(began)); fault != nil {
				err = fault
			}
		})
	}
	close(start)
	all.Wait()
	return times, err
}

const leaveQuestion = "How many days of leave?"

// firstEvent asks over HTTP and calls begun at the first event.
func firstEvent(ctx context.Context, url string, begun func()) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/api/ask", strings.NewReader(`{"question": "`+leaveQuestion+`"}`))
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	last := ""
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			begun()
			last = name
		}
	}
	if last != "done" {
		return fmt.Errorf("%s: a stream ends with %q", response.Status, last)
	}
	return nil
}

// TestManyStreams: of 200 questions at once each is answered, the first event comes not much later than from the
// engine alone, and the server keeps within its memory.
func TestManyStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("a load")
	}
	const n, rounds = 200, 3
	h := newHouse(t)
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: t.TempDir(), Docs: []string{h.docs}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	url, pid, _ := h.process(t, "127.0.0.1:0", "--offline")
	engine := func(begun func()) error {
		for _, err := range a.Stream(t.Context(), ragflow.Question{Text: leaveQuestion}) {
			if err != nil {
				return err
			}
			begun()
		}
		return nil
	}
	door := func(begun func()) error { return firstEvent(t.Context(), url, begun) }
	measured := func(ask func(func()) error) (first, whole []time.Duration) {
		first = make([]time.Duration, n)
		began := time.Now()
		whole, err := together(n, func(i int) error {
			return ask(sync.OnceFunc(func() { first[i] = time.Since(began) }))
		})
		if err != nil {
			t.Fatal(err)
		}
		return first, whole
	}
	var engineFirst, engineWhole, doorFirst, doorWhole []time.Duration
	for round := range rounds + 1 {
		first, whole := measured(engine)
		first2, whole2 := measured(door)
		if round > 0 { // the first one opens what the others use
			engineFirst, engineWhole = append(engineFirst, first...), append(engineWhole, whole...)
			doorFirst, doorWhole = append(doorFirst, first2...), append(doorWhole, whole2...)
		}
	}
	ratio := float64(at(doorFirst, 0.99)) / float64(at(engineFirst, 0.99))
	t.Logf("first of %d at once: engine p50 %s p99 %s, over HTTP p50 %s p99 %s, %.1f times; whole: p99 %s and %s; %d MB",
		n, at(engineFirst, 0.5), at(engineFirst, 0.99), at(doorFirst, 0.5), at(doorFirst, 0.99), ratio, at(engineWhole, 0.99), at(doorWhole, 0.99), peak(pid))
	if ratio > 5 { // 1.5 on a busy machine
		t.Errorf("the first event takes %.1f times as long as that of the engine", ratio)
	}
	if got := peak(pid); got > maxMemory {
		t.Errorf("%d MB, at most %d", got, maxMemory)
	}
}
