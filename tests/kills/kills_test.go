package kills_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/checkpoint/postgres"
	"example.com/ragflow/graph"
	"example.com/ragflow/internal/stored"
)

// store has the methods common to both stores.
type store interface {
	graph.Store
	Verify(ctx context.Context, threads ...string) ([]stored.Finding, error)
	Close() error
}

// address is the environment variable that makes the test binary run the flow on the named store.
const address = "KILLS_TEST_STORE"

func TestMain(m *testing.M) {
	at, ctx := os.Getenv(address), context.Background()
	if dir := os.Getenv(agentFolder); dir != "" {
		if err := runAgent(ctx, dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if at == "" {
		os.Exit(m.Run())
	}
	s, err := open(ctx, at)
	if err == nil {
		err = errors.Join(runFlow(ctx, s, witness{os.Stdin, os.Stdout}), s.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// open opens the store in a file or at the URL of a server.
func open(ctx context.Context, at string) (store, error) {
	if strings.HasPrefix(at, "postgres") {
		return postgres.Open(ctx, at, postgres.Options{OwnerDied: checkpoint.OwnerDied})
	}
	return checkpoint.Open(ctx, at, checkpoint.Options{})
}

// live runs a process of the flow and kills it some time after its n-th line of output; if n is negative, it
// may end. It returns the output, and whether the process was killed.
func live(t *testing.T, at string, lines int, after time.Duration) (said []string, killed bool) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), address+"="+at)
	var trouble bytes.Buffer
	var shot atomic.Bool
	cmd.Stderr = &trouble
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	leave := func(n int) { _, _ = in.Write(bytes.Repeat([]byte("."), n)) } // it may have been killed
	scan := bufio.NewScanner(out)
	if lines < 0 {
		leave(10_000)
	}
	for scan.Scan() {
		said = append(said, scan.Text())
		switch {
		case lines < 0 || len(said) > lines+1:
		case len(said) <= lines:
			leave(1)
		default: // it waits for permission for this line: give it, and kill
			leave(10_000)
			time.AfterFunc(after, func() {
				shot.Store(true) // first: Wait may return before Kill does
				_ = cmd.Process.Kill()
			})
		}
	}
	err = cmd.Wait()
	killed = err != nil && shot.Load()
	if err != nil && !killed {
		t.Fatalf("%v: %s", err, trouble.String())
	}
	return said, killed
}

// flowState is the final state of a flow.
func flowState(t *testing.T, at string) (state string, commits map[string]bool) {
	t.Helper()
	s, err := open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	plan, err := flowPlan(witness{})
	if err != nil {
		t.Fatal(err)
	}
	state, head, err := plan.Runner(graph.Options{Store: s}).State(t.Context(), "t")
	if err != nil || head.Status != graph.Completed {
		t.Fatalf("state %q, %v, %v", state, head.Status, err)
	}
	commits = map[string]bool{}
	for c, err := range s.Walk(t.Context(), "t", 0) {
		if err != nil {
			t.Fatal(err)
		}
		commits[strconv.Itoa(int(c.ID))] = true
	}
	if found, err := s.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("findings %v, %v", found, err)
	}
	return state, commits
}

func TestKilledFlows(t *testing.T) {
	killFlows(t, func(t *testing.T) string {
		t.Helper()
		return filepath.Join(t.TempDir(), "threads.db")
	})
}

func TestKilledFlowsIntegration(t *testing.T) {
	server := os.Getenv("RAGFLOW_TEST_POSTGRES")
	if server == "" {
		t.Skip("needs a PostgreSQL server: scripts/servers/postgres start ENV_FILE, then . ENV_FILE")
	}
	killFlows(t, func(t *testing.T) string {
		t.Helper()
		return schema(t, server)
	})
}

// schema returns the URL of a new schema of a server, which is dropped at the end.
func schema(t *testing.T, server string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal("RAGFLOW_TEST_POSTGRES is no URL")
	}
	name := fmt.Sprintf("kills_%d_%d", os.Getpid(), time.Now().UnixNano())
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		conn, err := pgx.Connect(ctx, server)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(ctx, `DROP SCHEMA IF EXISTS `+name+` CASCADE`); err != nil {
			t.Error(err)
		}
		_ = conn.Close(ctx)
	})
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

// number returns the value of an environment variable.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// killFlows kills processes of a flow with all features at random moments and lets others continue:
// acknowledged work is there, saved work is not repeated, deeds keep their key, and the state is that of an
// undisturbed run. RAGFLOW_KILLS is the number of kills, RAGFLOW_SEED the seed.
func killFlows(t *testing.T, place func(*testing.T) string) {
	t.Helper()
	kills, seed := number(t, "RAGFLOW_KILLS", 20), number(t, "RAGFLOW_SEED", 1)
	whole := place(t)
	said, _ := live(t, whole, -1, 0)
	want, commits := flowState(t, whole)
	var all tally
	all.read(t, said, commits)
	if all.deeds != 11*turns || all.again != 0 || all.saved < 40 {
		t.Fatalf("undisturbed: %+v; it says only %q", all, said)
	}
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	all = tally{}
	done, lives, flows := 0, 0, 0
	for ; done < kills && !t.Failed(); flows++ {
		at := place(t)
		var log []string
		for killed := true; killed; lives++ {
			var said []string
			lines := random.IntN(len(log)/4 + 150)
			if said, killed = live(t, at, lines, time.Duration(random.IntN(3000))*time.Microsecond); killed {
				done++
			}
			log = append(log, said...)
		}
		got, commits := flowState(t, at)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("state (-uninterrupted +killed):\n%s", diff)
		}
		all.read(t, log, commits)
	}
	t.Logf("%d kills in %d lives of %d threads, %d turns: %d results acknowledged, none of them lost or made again; %d deeds, each with one key, %d of them begun again before they were saved",
		done, lives, flows, flows*turns, all.saved, all.deeds, all.again)
}

// tally counts the output of processes.
type tally struct {
	saved int
	deeds int // by idempotency key
	again int // deeds repeated with their key, before their result was saved
}

// read finds acknowledged commits that were lost, saved work that started again, and deeds with two keys.
func (a *tally) read(t *testing.T, log []string, commits map[string]bool) {
	t.Helper()
	saved, keys, owners := map[string]bool{}, map[string]string{}, map[string]string{}
	for i, line := range log {
		words := strings.Fields(line)
		switch words[0] {
		case "commit":
			if !commits[words[1]] {
				t.Errorf("commit %s was acknowledged and is lost; log %q", words[1], log[:i+1])
			}
		case "saved":
			saved[words[1]+" "+words[2]] = true
		case "start":
			if saved[words[1]+" "+words[2]] {
				t.Errorf("%s was saved, and begins again; log %q", words[2], log[:i+1])
			}
		case "deed":
			name, key := words[1]+" "+words[2], words[3]
			switch known := keys[name]; {
			case known == "":
				keys[name] = key
			case known != key:
				t.Errorf("%s was done with the keys %s and %s; log %q", name, known, key, log[:i+1])
			default:
				a.again++
			}
			if other := owners[key]; other != "" && other != name {
				t.Errorf("%s and %s have one key; log %q", other, name, log[:i+1])
			}
			owners[key] = name
		default:
			t.Errorf("it says %q", line)
		}
	}
	a.saved += len(saved)
	a.deeds += len(keys)
}
