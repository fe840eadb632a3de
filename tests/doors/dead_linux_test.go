package doors_test

import (
	"context"
	"encoding/json"
	"errors"
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

// narrow is a listener whose connections take little before they wait for the reader, as a slow line does.
type narrow struct{ net.Listener }

func (n narrow) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetWriteBuffer(16 << 10)
	}
	return c, err
}

// serveLoud serves a house and a graph that says much over narrow connections.
func serveLoud(t *testing.T, models ragflow.Models) (url string) {
	t.Helper()
	h := newHouse(t)
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: h.data, Docs: []string{h.docs}, Models: models})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveAt(t, narrow{l}, a, server.Options{Graphs: map[string]untyped.Runner{"loud": loud()}})
	return "http://" + l.Addr().String()
}

// begin sends a request over a connection of its own, with little room for the answer, and reads some bytes of it.
func begin(t *testing.T, url, method, path, body string, some int) (*net.TCPConn, error) {
	t.Helper()
	control := func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
	}
	c, err := (&net.Dialer{Control: control}).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = c.Close() })
	_, err = fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", method, path, len(body), body)
	if err == nil {
		_, err = io.ReadFull(c, make([]byte, some))
	}
	return c.(*net.TCPConn), err //nolint:forcetypeassert // of TCP
}

// vanish makes the kernel drop whatever arrives for a connection, as if the machine had lost its power: nothing is
// acknowledged, and the other end is told nothing.
func vanish(c *net.TCPConn) (err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	drop := []syscall.SockFilter{*syscall.LsfStmt(syscall.BPF_RET|syscall.BPF_K, 0)}  //nolint:staticcheck // package net attaches none to TCP
	fault := raw.Control(func(fd uintptr) { err = syscall.AttachLsf(int(fd), drop) }) //nolint:staticcheck // as above
	return errors.Join(err, fault)
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
	url := serveLoud(t, ragflow.Models{Chat: newHeld()})
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

	const question = `{"question": "` + leaveQuestion + `"}`
	const run = `{"assistant_id": "loud", "input": {}, "stream_mode": ["custom"]}`
	_, err := together(600, func(i int) error {
		kind := []struct {
			method, path, body string
			some               int
			vanishes           bool
		}{
			{"GET", "/api/documents/large.txt?collection=large", "", 100, false},
			{"GET", "/threads/kept/state", "", 100, false},
			{"POST", "/runs/stream", run, 100, false},
			{"POST", "/threads/kept/stream/events", `{"channels": ["lifecycle"]}`, 100, true},
			{"POST", "/runs/stream", run, 100, true},
			{"POST", "/api/ask", question, 0, true},
		}[i%6]
		c, err := begin(t, url, kind.method, kind.path, kind.body, kind.some)
		if err == nil && kind.vanishes {
			err = vanish(c)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
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

// TestSlowReaders: 1,000 readers that take some kilobytes a second from a run that says much hold up neither the
// run nor others.
func TestSlowReaders(t *testing.T) {
	if testing.Short() {
		t.Skip("a load")
	}
	url := serveLoud(t, ragflow.Models{})
	ask := func(method, path, body string) time.Duration {
		began := time.Now()
		if status, err := call(t.Context(), method, url+path, body, nil); err != nil || status != http.StatusOK {
			t.Errorf("%s %s: %d %v", method, path, status, err)
		}
		return time.Since(began)
	}
	measure := func() (asked []time.Duration, run time.Duration) {
		ended := make(chan time.Duration)
		go func() { ended <- ask("POST", "/threads/watched/runs/wait", `{"assistant_id": "loud", "input": {}}`) }()
		for range 100 {
			asked = append(asked, ask("POST", "/api/ask", `{"question": "`+leaveQuestion+`"}`))
		}
		return asked, <-ended
	}
	ask("POST", "/threads", `{"thread_id": "watched"}`)
	ask("POST", "/api/ask", `{"question": "`+leaveQuestion+`"}`)
	alone, runAlone := measure()

	readers := make([]*net.TCPConn, 1000)
	_, err := together(len(readers), func(i int) (err error) {
		readers[i], err = begin(t, url, "POST", "/threads/watched/stream/events", `{"channels": ["custom"]}`, 100)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for some := make([]byte, 1024); ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
			for _, c := range readers {
				_ = c.SetReadDeadline(time.Now().Add(time.Microsecond))
				_, _ = c.Read(some)
			}
		}
	}()
	beside, runBeside := measure()
	stop()
	<-stopped
	t.Logf("an answer takes %s, p99 %s; beside 1,000 slow readers %s, p99 %s; a run %s and %s",
		at(alone, 0.5), at(alone, 0.99), at(beside, 0.5), at(beside, 0.99), runAlone, runBeside)
	if slower := float64(at(beside, 0.5)) / float64(at(alone, 0.5)); slower > 5 {
		t.Errorf("an answer takes %.1f times as long", slower)
	}
	if worst := at(beside, 1); worst > 10*time.Second || runBeside > 10*time.Second {
		t.Errorf("an answer took up to %s, the run %s", worst, runBeside)
	}
}
