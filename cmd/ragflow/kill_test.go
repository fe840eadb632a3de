package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/threads"
)

// number is a setting of the long forms of these tests; see scripts/.
func number(t *testing.T, name string, preset int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return preset
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// program runs ragflow in a process of its own, on one folder.
type program struct {
	t    *testing.T
	dir  string
	data string
}

func (p program) command(args ...string) *exec.Cmd {
	p.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.CommandContext(p.t.Context(), exe, args...)
	cmd.Args[0] = "ragflow" // by which testscript.Main knows it
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "RAGFLOW_DATA_DIR="+p.data, "HOME="+p.dir, "XDG_CONFIG_HOME="+p.dir, "XDG_DATA_HOME="+p.dir)
	return cmd
}

// do runs a command line that must succeed.
func (p program) do(args ...string) string {
	p.t.Helper()
	out, err := p.command(args...).Output()
	if err != nil {
		stderr := ""
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			stderr = string(exit.Stderr)
		}
		p.t.Fatalf("ragflow %q: %v\n%s", args, err, stderr)
	}
	return string(out)
}

// killed runs a command line, kills it after a while, and returns what it had
// written by then.
func (p program) killed(after time.Duration, stdin string, args ...string) string {
	p.t.Helper()
	cmd := p.command(args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stdin = &out, strings.NewReader(stdin)
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // killed, or done before
	timer.Stop()
	return out.String()
}

func (p program) json(v any, args ...string) {
	p.t.Helper()
	if err := json.Unmarshal([]byte(p.do(args...)), v); err != nil {
		p.t.Fatalf("ragflow %q: %v", args, err)
	}
}

// commits reads the log of a run by way of an export.
func (p program) commits(thread, run string) []archived {
	p.t.Helper()
	var out []archived
	for l := range strings.Lines(p.do("threads", "export", thread)) {
		var c archived
		if err := json.Unmarshal([]byte(l), &c); err != nil {
			p.t.Fatal(err)
		}
		if c.Run == run && c.ID != 0 {
			out = append(out, c)
		}
	}
	return out
}

type archived struct {
	ID     int64
	Run    string
	Step   int
	Source graph.Source
	Status graph.Status
	Deltas []struct {
		Node string
		Body json.RawMessage
	}
}

// library writes documents; each version changes some of them, moves one and
// takes one out, which the next brings back.
func library(t *testing.T, dir string, version int) {
	t.Helper()
	for i := range 40 {
		stamp := 0
		if i%4 == version%4 {
			stamp = version
		}
		text := fmt.Sprintf("# Herb %d\n\nHerb number %d grows best in soil of kind %d. Revision %d.\n\n## Watering\n\nWater herb %d every %d days.\n",
			i, i, i%7, stamp, i, 1+i%5)
		if err := os.MkdirAll(filepath.Join(dir, "docs"), 0o700); err != nil {
			t.Fatal(err)
		}
		here, there := filepath.Join(dir, "docs", fmt.Sprintf("herb-%d.md", i)), filepath.Join(dir, "docs", fmt.Sprintf("moved-%d.md", i))
		if version > 0 && i == 10+version%7 {
			here, there = there, here
		}
		if err := os.Remove(there); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if version > 0 && i == 20+version%5 {
			if err := os.Remove(here); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(here, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKill kills ask, chat and index at random moments and looks at what is
// left: every turn that was acknowledged is there once, an unfinished one is resumed
// without running a finished node again, the index answers as a fresh one.
// scripts/kill is its long form.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("runs processes for seconds; left out with -short")
	}
	t.Parallel()
	kills, seed := number(t, "RAGFLOW_KILLS", 12), uint64(number(t, "RAGFLOW_SEED", 1))
	random := rand.New(rand.NewPCG(seed, 7))
	dir := t.TempDir()
	p := program{t, dir, filepath.Join(dir, "data")}
	library(t, dir, 0)
	p.do("ask", "--docs", "docs", "--thread", "first", "How often should I water herb 1?")
	began := time.Now()
	p.do("ask", "--thread", "first", "and what soil does it need?")
	whole := time.Since(began)
	k := &killing{program: p, random: random, whole: whole, acknowledged: map[string]string{}}
	for n := range kills {
		switch n % 4 {
		case 0, 1:
			k.ask(n)
		case 2:
			k.chat(n)
		case 3:
			k.index(n)
		}
		if t.Failed() {
			t.Fatalf("after %d kills with seed %d", n+1, seed)
		}
		if n%20 == 19 || n == kills-1 {
			k.check()
		}
	}
	t.Logf("%d kills: %d turns acknowledged, %d resumed, %d began no run; index killed %d times, different from a fresh one never",
		kills, len(k.acknowledged), k.resumed, k.none, k.indexed)
}

type killing struct {
	program
	random                 *rand.Rand
	whole                  time.Duration     // what a command takes that is not killed
	acknowledged           map[string]string // question → thread
	resumed, none, indexed int
}

// moment is when to kill: any time up to a little beyond the end.
func (k *killing) moment() time.Duration {
	return time.Duration(k.random.Int64N(int64(k.whole + k.whole/4)))
}

func (k *killing) ask(n int) {
	question, thread := fmt.Sprintf("How often should I water herb %d, asked for the %d. time?", n%40, n), fmt.Sprint("ask-", n%5)
	out := k.killed(k.moment(), "", "ask", "--json", "--thread", thread, question)
	var reply ragflow.Reply
	if json.Unmarshal([]byte(out), &reply) == nil {
		k.acknowledged[question] = thread
	}
	k.resume(thread)
}

// chat pipes two questions in. Only the log shows the turns that it acknowledged: see resume and
// check.
func (k *killing) chat(n int) {
	thread := fmt.Sprint("chat-", n%3)
	k.killed(2*k.moment(), fmt.Sprintf("What soil does herb %d need, asked in chat %d?\nand how often is it watered, chat %d?\n", n%40, n, n),
		"chat", "--thread", thread)
	k.resume(thread)
}

// resume resumes the last run of a thread, and compares the log before and after.
func (k *killing) resume(thread string) {
	k.t.Helper()
	var list threadsReply
	k.json(&list, "threads", "list", "--json")
	i := slices.IndexFunc(list.Threads, func(i threads.Info) bool { return i.ID == thread })
	if i < 0 || list.Threads[i].Status == "completed" || list.Threads[i].Status == "superseded" {
		k.none++
		return
	}
	var run string
	for l := range strings.Lines(k.do("threads", "export", thread)) {
		var c archived
		if json.Unmarshal([]byte(l), &c) == nil && c.ID != 0 {
			run = c.Run
		}
	}
	before := k.commits(thread, run)
	var reply ragflow.Reply
	k.json(&reply, "ask", "--json", "--thread", thread, "--resume")
	after := k.commits(thread, run)
	if reply.RunID != run || len(after) <= len(before) {
		k.t.Errorf("resumed run %s of %d commits: it is run %s of %d", run, len(before), reply.RunID, len(after))
		return
	}
	if diff := cmp.Diff(before, after[:len(before)]); diff != "" {
		k.t.Errorf("the resume changed what was saved:\n%s", diff)
	}
	ran := map[string]bool{}
	for _, c := range after {
		if c.Source != graph.SourceLoop {
			continue
		}
		for _, d := range c.Deltas {
			key := fmt.Sprint(c.Step, " ", d.Node)
			if ran[key] {
				k.t.Errorf("node %q of step %d ran to its end twice", d.Node, c.Step)
			}
			ran[key] = true
		}
	}
	k.resumed++
	k.acknowledged[reply.Question] = thread
}

// index changes documents, kills the indexing of them, and completes it.
func (k *killing) index(n int) {
	library(k.t, k.dir, n)
	k.killed(k.moment(), "", "index", "docs")
	k.indexed++
	k.do("index", "--quiet", "docs")
	fresh := program{k.t, k.dir, filepath.Join(k.t.TempDir(), "fresh")}
	fresh.do("index", "--quiet", "docs")
	for _, query := range []string{"water herb 7", "soil of kind 3", fmt.Sprint("revision ", n)} {
		if diff := cmp.Diff(fresh.do("search", "--json", query), k.do("search", "--json", query)); diff != "" {
			k.t.Errorf("search %q (-fresh index +killed one):\n%s", query, diff)
		}
	}
}

// check looks at all that was said.
func (k *killing) check() {
	k.t.Helper()
	k.do("threads", "verify")
	var list threadsReply
	k.json(&list, "threads", "list", "--json")
	said := map[string]int{}
	for _, info := range list.Threads {
		var thread threads.Thread
		k.json(&thread, "threads", "show", "--json", info.ID)
		ids := map[string]bool{}
		for _, m := range thread.Messages {
			if ids[m.ID] {
				k.t.Errorf("thread %q: message %s stands there twice", info.ID, m.ID)
			}
			ids[m.ID] = true
			if m.Role == "human" {
				said[info.ID+"\n"+m.Content]++
			}
		}
	}
	for question, times := range said {
		if times > 1 {
			k.t.Errorf("said %d times: %q", times, question)
		}
	}
	for question, thread := range k.acknowledged {
		if said[thread+"\n"+question] != 1 {
			k.t.Errorf("thread %q: the acknowledged question %q is there %d times", thread, question, said[thread+"\n"+question])
		}
	}
}
