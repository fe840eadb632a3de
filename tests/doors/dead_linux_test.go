package doors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"runtime/pprof"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/server"
)

// page is the state of a graph that says much.
type page struct {
	Text string `json:"text"`
}

// loud is a graph that says 2 MB and keeps 1 MB.
func loud() untyped.Runner {
	say := func(ctx context.Context, _ page) (page, error) {
		for range 64 {
			graph.Emit(ctx, strings.Repeat("x", 32<<10))
		}
		return page{strings.Repeat("y", 1<<20)}, nil
	}
	plan := graph.MustCompile(graph.Graph[page, page]{
		Name: "loud", Apply: func(_, u page) (page, error) { return u, nil },
		Nodes: map[string]graph.Task[page, page]{"say": {Run: say}}, Edges: graph.Chain(graph.Start, "say", graph.End),
	})
	return untyped.Of(plan.Runner(graph.Options{Store: memstore.New()}))
}

// begin sends a request over a connection of its own, with little room for the answer, and reads some bytes of it.
func begin(t *testing.T, addr, method, path, body string, some int) *net.TCPConn {
	t.Helper()
	control := func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
	}
	c, err := (&net.Dialer{Control: control}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_, err = fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", method, path, len(body), body)
	if err == nil {
		_, err = io.ReadFull(c, make([]byte, some))
	}
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return c.(*net.TCPConn) //nolint:forcetypeassert // of TCP
}

// vanish makes the kernel drop whatever arrives for a connection, as if the machine had lost its power: nothing is
// acknowledged, and the other end is told nothing.
func vanish(t *testing.T, c *net.TCPConn) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	drop := []syscall.SockFilter{*syscall.LsfStmt(syscall.BPF_RET|syscall.BPF_K, 0)}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = syscall.AttachLsf(int(fd), drop) }); err != nil || failed != nil {
		t.Skipf("this kernel filters no packets of a connection: %v %v", err, failed)
	}
}

// usage is what a server needs when it rests.
func usage() (goroutines int, heap uint64) {
	http.DefaultClient.CloseIdleConnections()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return runtime.NumGoroutine(), m.HeapAlloc
}

// TestDeadReaders: of 300 readers that stop reading and 300 that vanish without a word nothing is left
// after half a minute, and others are answered meanwhile.
func TestDeadReaders(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for half a minute")
	}
	h := newHouse(t)
	m := newHeld()
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: h.data, Docs: []string{h.docs}, Models: ragflow.Models{Chat: m}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	url := serveHere(t, a, server.Options{Graphs: map[string]untyped.Runner{"loud": loud()}})
	addr := strings.TrimPrefix(url, "http://")
	do := func(method, path, body string) {
		t.Helper()
		if status, err := call(t.Context(), method, url+path, body, nil); err != nil || status >= 300 {
			t.Fatalf("%s %s: %d %v", method, path, status, err)
		}
	}
	do("PUT", "/api/collections/large", "")
	do("PUT", "/api/documents/large.txt?collection=large", strings.Repeat("The fee is 30 euros.\n", 50_000))
	do("POST", "/threads", `{"thread_id": "kept"}`)
	do("POST", "/threads/kept/runs/wait", `{"assistant_id": "loud", "input": {}}`)
	do("POST", "/api/search", `{"query": "leave"}`)
	goroutines, heap := usage()

	for i := range 100 {
		begin(t, addr, "GET", "/api/documents/large.txt?collection=large", "", 100)
		begin(t, addr, "GET", "/threads/kept/state", "", 100)
		begin(t, addr, "POST", "/runs/stream", `{"assistant_id": "loud", "input": {}, "stream_mode": ["custom"]}`, 100)

		vanish(t, begin(t, addr, "POST", "/threads/kept/stream/events", `{"channels": ["lifecycle"]}`, 100))
		vanish(t, begin(t, addr, "GET", "/threads/kept/state", "", 100))
		if i%2 == 0 {
			vanish(t, begin(t, addr, "POST", "/runs/stream", `{"assistant_id": "loud", "input": {}, "stream_mode": ["custom"]}`, 100))
		} else {
			vanish(t, begin(t, addr, "POST", "/api/ask", `{"question": "How many days of leave?"}`, 0))
		}
	}
	began := time.Now()
	most, mostHeap := usage()
	if most < goroutines+600 {
		t.Fatalf("%d goroutines for 600 readers after %d: they are not under way", most, goroutines)
	}
	for {
		now, nowHeap := usage()
		if now <= goroutines+10 && nowHeap <= heap+64<<20 {
			t.Logf("after %s: %d goroutines, %d MB; %d, %d MB before; %d, %d MB with 600 readers",
				time.Since(began).Round(time.Second), now, nowHeap>>20, goroutines, heap>>20, most, mostHeap>>20)
			return
		}
		if time.Since(began) > 45*time.Second { // half a minute on an idle machine
			t.Fatalf("%d goroutines and %d MB are left of %d and %d MB; before there were %d and %d MB\n%s", now, nowHeap>>20, most, mostHeap>>20, goroutines, heap>>20, stacks())
		}
		var found struct{ Hits []json.RawMessage }
		if status, err := call(t.Context(), "POST", url+"/api/search", `{"query": "leave"}`, &found); err != nil || status != 200 || len(found.Hits) == 0 {
			t.Fatalf("another client gets %d %v", status, err)
		}
		time.Sleep(time.Second / 2)
	}
}

// stacks are what the goroutines do, with their numbers.
func stacks() string {
	var out strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&out, 1) // of a builder
	return out.String()[:min(out.Len(), 10_000)]
}
