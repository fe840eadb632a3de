package weaviate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ragflow/internal/remote"
	"example.com/ragflow/search"
	"example.com/ragflow/search/weaviate"
	"example.com/ragflow/state"
)

// cluster drives the three nodes that scripts/servers/weaviate start --three starts.
type cluster struct {
	t      *testing.T
	script string
	hosts  []string
}

func (c cluster) run(what string, node int) {
	c.t.Helper()
	if out, err := exec.CommandContext(c.t.Context(), c.script, what, strconv.Itoa(node)).CombinedOutput(); err != nil {
		c.t.Fatalf("%s of node %d: %v\n%s", what, node, err, out)
	}
}

// leader asks a node which one decides about classes.
func (c cluster) leader(node int) int {
	c.t.Helper()
	r, err := http.Get("http://" + c.hosts[node] + "/v1/cluster/statistics") //nolint:noctx // a test
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Body.Close()
	var answer struct {
		Statistics []struct {
			Name, LeaderID string
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
		c.t.Fatal(err)
	}
	for _, s := range answer.Statistics {
		if id, ok := strings.CutPrefix(s.LeaderID, "node-"); ok {
			return int(id[0] - '0')
		}
	}
	c.t.Fatalf("no leader in %+v", answer)
	return 0
}

// asker asks until it is stopped, and notes errors and how long an answer took.
type asker struct {
	answers, failures atomic.Int64
	mu                sync.Mutex
	longest           time.Duration
	last              error
}

func (a *asker) ask(ctx context.Context, db search.Backend) {
	for ctx.Err() == nil {
		began := time.Now()
		s, err := db.Snapshot(ctx, "/docs")
		if err == nil {
			_, err = s.SearchWords(ctx, state.Query{Text: "basil number7", Weight: 1}, 10)
		}
		if ctx.Err() != nil {
			return
		}
		a.mu.Lock()
		a.longest = max(a.longest, time.Since(began))
		if a.answers.Add(1); err != nil {
			a.failures.Add(1)
			a.last = err
		}
		a.mu.Unlock()
	}
}

// maxPut is how long the kill of a node may delay a put: three requests that a node does not
// answer within their time limit, on a busy machine.
const maxPut = 50 * time.Second

// TestIntegrationCluster kills a node while documents are put and questions asked, starts it
// again, and does the same to the leader. Every file whose put succeeded is there in the end,
// each of its chunks once, on each node; each question was answered.
func TestIntegrationCluster(t *testing.T) {
	c := cluster{t: t, script: os.Getenv("RAGFLOW_TEST_WEAVIATE_SCRIPT")}
	where := address(t)
	hosts, rest, _ := strings.Cut(strings.TrimPrefix(where, "weaviate://"), "/")
	if c.hosts = strings.Split(hosts, ","); len(c.hosts) < 3 || c.script == "" {
		t.Skip("no three nodes: run scripts/servers/weaviate start --three, and set the variables it writes")
	}
	connect := func(address string) search.Backend {
		db, err := weaviate.Open(t.Context(), address, weaviate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	const each = 20
	files, refused := 0, 0
	db := connect(where)
	put := func() { // until it succeeds, as the next index run does
		texts := make([]string, each)
		for i := range texts {
			texts[i] = fmt.Sprintf("basil number%d of file%d", i, files)
		}
		for try := 0; ; try++ {
			err := db.Put(t.Context(), "/docs", []search.Entry{page(fmt.Sprint("f", files), texts...)})
			if err == nil {
				break
			}
			if refused++; try == 60 {
				t.Fatal(err)
			}
			t.Log("put:", err)
			time.Sleep(500 * time.Millisecond)
		}
		files++
	}
	put()
	ctx, stop := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	questions := &asker{}
	for range 2 {
		reader := connect(where)
		asking.Go(func() { questions.ask(ctx, reader) })
	}
	slowest := time.Duration(0)
	work := func(n int) {
		for range n {
			began := time.Now()
			put()
			slowest = max(slowest, time.Since(began))
		}
	}
	work(10)
	for round, node := range []int{(c.leader(0) + 1) % 3, c.leader(0)} {
		killed := make(chan struct{})
		go func() { // while a file is put
			time.Sleep(50 * time.Millisecond)
			c.run("crash", node)
			close(killed)
		}()
		work(10)
		<-killed
		work(10)
		if round == 1 { // a class is made without the old leader
			began := time.Now()
			other := connect(strings.Replace(where, "?", "Other?", 1))
			if err := other.Put(t.Context(), "/docs", []search.Entry{page("a", "basil")}); err != nil {
				t.Errorf("a new collection without the leader: %v", err)
			}
			t.Logf("a new collection without the leader took %s", time.Since(began).Round(time.Millisecond))
		}
		c.run("return", node)
		work(10)
		t.Logf("node %d was killed and returned: %d files, slowest put %s, %d questions, %d of them failed, longest %s",
			node, files, slowest.Round(time.Millisecond), questions.answers.Load(), questions.failures.Load(), questions.longest.Round(time.Millisecond))
		if slowest > maxPut {
			t.Errorf("a put took %s, want less than %s", slowest, maxPut)
		}
		slowest = 0
	}
	stop()
	asking.Wait()
	t.Logf("%d puts were refused and repeated", refused)
	if n := questions.failures.Load(); n > 0 {
		t.Errorf("%d of %d questions failed, at last: %v", n, questions.answers.Load(), questions.last)
	}
	began := time.Now()
	for _, host := range c.hosts { // each lists what it holds itself
		where := "weaviate://" + host + "/" + rest
		err := c.count(connect(where), files, each)
		for ; err != nil && time.Since(began) < 2*time.Minute; err = c.count(connect(where), files, each) {
			time.Sleep(time.Second)
		}
		if err != nil {
			t.Errorf("%s: %v", host, err)
		}
		t.Logf("%s held all %s after the end", host, time.Since(began).Round(time.Second))
	}
}

// count counts what a node holds, by id.
func (c cluster) count(db search.Backend, files, each int) error {
	c.t.Helper()
	seen := map[string]int{}
	root := remote.ID("/docs")
	if err := db.(*remote.DB).Store().EachChunk(c.t.Context(), []string{root}, 0, func(o remote.Chunk) error {
		seen[o.Public]++
		return nil
	}); err != nil {
		return err
	}
	lost, double := 0, 0
	for f := range files {
		for i := range each {
			switch n := seen[fmt.Sprintf("f%d#%d", f, i)]; {
			case n == 0:
				lost++
			case n > 1:
				double++
			}
		}
	}
	if lost+double > 0 || len(seen) != files*each {
		return fmt.Errorf("of %d chunks %d are lost and %d double; there are %d", files*each, lost, double, len(seen))
	}
	reread, err := db.Files(c.t.Context(), "/docs")
	if err != nil || len(reread) != files {
		return fmt.Errorf("%d files are known, want %d: %w", len(reread), files, err)
	}
	for source, f := range reread {
		if f.Error != "" || f.Chunks != each {
			return fmt.Errorf("%s has %d chunks, %q", source, f.Chunks, f.Error)
		}
	}
	return nil
}
