package doors_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/server"
)

// asShop makes the test binary a server of the shop.
const asShop = "DOORS_TEST_SHOP"

func TestMain(m *testing.M) {
	if os.Getenv(asShop) == "" {
		os.Exit(m.Run())
	}
	if err := sell(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// sell serves the shop and prints its address.
func sell(ctx context.Context) error {
	s, err := server.New(nil, server.Options{Graphs: map[string]untyped.Runner{"shop": lgShop()}})
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "http://%s\n", l.Addr())
	return s.Serve(ctx, l)
}

// lgShopProcess serves the shop in a process of its own and returns its address and its number.
func lgShopProcess(t *testing.T) (url string, pid int) {
	t.Helper()
	c := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0])
	c.Env = append(os.Environ(), asShop+"=1")
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the shop gives no address: %v", err)
	}
	return strings.TrimSpace(line), c.Process.Pid
}

// TestIntegrationTurnsBeside: clients get many times as many turns as from LangGraph's own server, on the same
// graph: a second for one client, and a second of processor time for eight. A turn is a new thread, an input, and
// the answer to what the graph asks.
func TestIntegrationTurnsBeside(t *testing.T) {
	theirs, pid := lgOracle(t, filepath.Join(clients(t, "langgraph"), "python"))
	ours, own := lgShopProcess(t)
	for _, n := range []int{1, 8} {
		var there, here lgRate
		for range 2 { // in turn
			there.add(lgTurns(t, theirs, pid, n))
			here.add(lgTurns(t, ours, own, n))
		}
		second, busy := here.turns/here.wall/(there.turns/there.wall), here.turns/here.busy/(there.turns/there.busy)
		t.Logf("%d clients: %.0f turns a second and %.0f of langgraph dev: %.0f times; %.0f and %.0f a second of processor time: %.0f times",
			n, here.turns/here.wall, there.turns/there.wall, second, here.turns/here.busy, there.turns/there.busy, busy)
		if n == 1 && second < 20 || n > 1 && busy < 12 { // 700 to 1,300 times, and 21 times on a busy machine
			t.Errorf("%d clients: not enough", n)
		}
	}
}

// lgRate is a number of turns and the seconds that they took, by the clock and of processors.
type lgRate struct{ turns, wall, busy float64 }

func (r *lgRate) add(x lgRate) {
	r.turns, r.wall, r.busy = r.turns+x.turns, r.wall+x.wall, r.busy+x.busy
}

// processorTime returns the seconds that a process has computed.
func processorTime(t *testing.T, pid int) float64 {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Skip("this system does not tell the processor time of a process")
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')'):]))
	user, _ := strconv.Atoi(fields[12]) // of the kernel
	system, _ := strconv.Atoi(fields[13])
	return float64(user+system) / 100
}

// lgTurns counts the turns that n clients get from a process in some seconds, each in a thread of its own.
func lgTurns(t *testing.T, url string, pid, n int) lgRate {
	t.Helper()
	const long = 3 * time.Second
	var turns atomic.Int64
	began, busy := time.Now(), processorTime(t, pid)
	_, err := together(n, func(int) error {
		for time.Since(began) < long {
			var thread turn
			if status, err := call(t.Context(), "POST", url+"/threads", "{}", &thread); err != nil || status != http.StatusOK {
				return fmt.Errorf("make a thread: %d %w", status, err)
			}
			for _, body := range []string{`{"assistant_id":"shop","input":{"item":"lamp"}}`, `{"assistant_id":"shop","command":{"resume":true}}`} {
				if status, err := call(t.Context(), "POST", url+"/threads/"+thread.Thread+"/runs/wait", body, nil); err != nil || status != http.StatusOK {
					return fmt.Errorf("a turn: %d %w", status, err)
				}
			}
			turns.Add(1)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lgRate{float64(turns.Load()), time.Since(began).Seconds(), processorTime(t, pid) - busy}
}
