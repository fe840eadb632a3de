package doors_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/golden"
	"example.com/ragflow/search"
	"example.com/ragflow/server"
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

// TestOverhead: a question over HTTP takes little more than the call of the library, measured in turn.
func TestOverhead(t *testing.T) {
	if testing.Short() {
		t.Skip("a measurement")
	}
	h := newHouse(t)
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: h.data, Docs: []string{h.docs}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	url := serveHere(t, a, server.Options{})
	var library, http []time.Duration
	for range 300 {
		began := time.Now()
		if _, err := a.Ask(t.Context(), ragflow.Question{Text: leaveQuestion}); err != nil {
			t.Fatal(err)
		}
		library = append(library, time.Since(began))
		began = time.Now()
		if status, err := call(t.Context(), "POST", url+"/api/ask", `{"question": "`+leaveQuestion+`"}`, nil); err != nil || status != 200 {
			t.Fatalf("%d %v", status, err)
		}
		http = append(http, time.Since(began))
	}
	t.Logf("a question takes %s by the library, %s over HTTP, at the median: %s more", at(library, 0.5), at(http, 0.5), at(http, 0.5)-at(library, 0.5))
	if ratio := float64(at(http, 0.5)) / float64(at(library, 0.5)); ratio > 2 { // 1.1 on an idle machine
		t.Errorf("%.1f times as long", ratio)
	}
}

// TestManyClients: 100 clients ask over HTTP at once about the Docker pages, each time something new, and each is
// answered, from a context of less than 4,000 tokens. How long it takes is only reported, beside the load of the
// machine: at once after indexing, when vectors are missing, and with all of them, alone and together, and each leg.
func TestManyClients(t *testing.T) {
	if os.Getenv("RAGFLOW_FULL") == "" {
		t.Skip("takes minutes (set RAGFLOW_FULL=1)")
	}
	h := newHouse(t)
	h.docs = golden.Public(t, "docker-docs")
	items, err := eval.ReadFile(golden.Public(t, "docker-eval", "dev.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	url, pid, _ := h.process(t, "127.0.0.1:0", "--offline")
	asked := 0
	measure := func(when, path, body string, clients, rounds int) {
		before := processor(pid)
		var retrieval, whole []time.Duration
		for range rounds {
			replies := make([]ragflow.Reply, clients)
			took, err := together(clients, func(i int) error {
				text := fmt.Sprintf("%s (%d)", items[(asked+i)%len(items)].Question, asked+i) // the number makes it new
				status, err := call(t.Context(), "POST", url+path, fmt.Sprintf(body, text), &replies[i])
				if err == nil && (status != http.StatusOK || replies[i].Chunks.ContextTokens >= 4000) {
					err = fmt.Errorf("status %d, %d tokens of context", status, replies[i].Chunks.ContextTokens)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			asked += clients
			whole = append(whole, took...)
			for i := range replies {
				retrieval = append(retrieval, time.Duration(replies[i].LatencyMS["retrieval"]*float64(time.Millisecond)))
			}
		}
		load, _ := os.ReadFile("/proc/loadavg")
		t.Logf("%s, %d clients, %d answers: retrieval p50 %s p95 %s, whole p50 %s p95 %s; %s of a processor each, %d MB; %d cores, load %s", when, clients, len(whole),
			at(retrieval, 0.5), at(retrieval, 0.95), at(whole, 0.5), at(whole, 0.95), (processor(pid)-before)/time.Duration(len(whole)), peak(pid), runtime.NumCPU(), load)
	}
	const ask, question, find = "/api/ask", `{"question": %q}`, `{"query": %q, "leg": "`
	measure("new index", ask, question, 100, 1)
	for missing := true; missing; time.Sleep(10 * time.Second) {
		var stats struct{ Collections []ingest.CollectionStats }
		out, err := h.ragflow(t, "index", "stats", "--json").Output()
		missing = err != nil || json.Unmarshal(out, &stats) != nil || stats.Collections[0].Vectors < stats.Collections[0].Chunks
	}
	measure("all vectors", ask, question, 1, 200)
	measure("all vectors", ask, question, 100, 10)
	for _, leg := range search.Legs() {
		measure(leg+" leg", "/api/search", find+leg+`"}`, 1, 200)
	}
}

// processor returns the processor time of a process; 0 if the system does not say.
func processor(pid int) (sum time.Duration) {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if fields := strings.Fields(string(stat)); len(fields) > 14 {
		for _, f := range fields[13:15] { // of the user and of the kernel, in hundredths of a second
			n, _ := strconv.Atoi(f)
			sum += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return sum
}
