package index_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// changeChild makes the test binary change an index, step after step, until it
// is killed: a path, a seed and the first step, with semicolons between.
const changeChild = "RAGFLOW_TEST_CHANGE"

// killStep is one transaction on an index. The steps of a seed are always the
// same.
type killStep struct {
	put     []search.Entry
	deleted []string
	publish bool
	model   string // vectors are made with it, in the place of others
}

// killSteps gives the steps of a seed one by one, and what the index holds after
// each.
type killSteps struct {
	seed  uint64
	n     int // steps done
	now   map[string]search.Entry
	moved *search.Entry // taken out by the step before, to be put elsewhere
}

func (k *killSteps) next() killStep {
	r := rand.New(rand.NewPCG(k.seed, uint64(k.n)))
	k.n++
	var s killStep
	sources := slices.Sorted(maps.Keys(k.now))
	switch kind := r.IntN(10); {
	case k.moved != nil:
		e := file(fmt.Sprintf("%02d-moved.md", r.IntN(60)), k.moved.File.Title)
		for i, c := range k.moved.Chunks {
			c.ID, c.Source = fmt.Sprintf("%s#%d", e.File.Source, i), e.File.Source
			e.Chunks = append(e.Chunks, c)
		}
		s.put, k.moved = []search.Entry{e}, nil
	case kind == 0:
		s.publish = true
	case kind == 1:
		s.model = []string{"bag", "sack"}[r.IntN(2)]
	case kind < 4 && len(sources) > 0:
		at := r.IntN(len(sources))
		s.deleted = sources[at:min(len(sources), at+1+r.IntN(3))]
	case kind == 4 && len(sources) > 0:
		e := k.now[sources[r.IntN(len(sources))]]
		s.deleted, k.moved = []string{e.File.Source}, &e
	default:
		for _, i := range r.Perm(60)[:1+r.IntN(5)] {
			s.put = append(s.put, randomFile(r, fmt.Sprintf("%02d.md", i)))
		}
	}
	for _, source := range s.deleted {
		delete(k.now, source)
	}
	for _, e := range s.put {
		k.now[e.File.Source] = e
	}
	return s
}

func (s killStep) do(ctx context.Context, db *index.DB) error {
	switch {
	case s.publish:
		return db.Publish(ctx, "/docs")
	case s.model != "":
		_, err := db.Embed(ctx, search.VectorSpec{Model: s.model}, []string{"/docs"}, search.EmbedOptions{Embed: newBag(32).embed, Switch: true})
		return err
	case len(s.deleted) > 0:
		return db.Delete(ctx, "/docs", s.deleted...)
	}
	return db.Put(ctx, "/docs", s.put)
}

// changeUntilKilled reports each step that is saved.
func changeUntilKilled(args string) error {
	ctx := context.Background()
	fields := strings.Split(args, ";")
	path := fields[0]
	seed, err := strconv.ParseUint(fields[1], 10, 64)
	from, err2 := strconv.Atoi(fields[2])
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	k := &killSteps{seed: seed, now: map[string]search.Entry{}}
	for k.n < from {
		k.next()
	}
	db, err := index.Open(ctx, path, index.Options{})
	if err != nil {
		return err
	}
	db.SetFlush(100)
	for {
		s := k.next()
		if err := s.do(ctx, db); err != nil {
			return err
		}
		if _, err := db.Searcher(ctx, "/docs"); err != nil && !errors.Is(err, search.ErrNotIndexed) {
			return err
		}
		if _, err := fmt.Println(k.n); err != nil {
			return err
		}
	}
}

// TestKilled kills a process that puts, deletes, moves, merges and embeds, at any
// moment. All that it reported as saved is there; at most the one step it was at came
// besides, whole; no chunk is lost, dead or there twice; and all answers are those
// of a fresh index. RAGFLOW_KILLS and RAGFLOW_SEED make it long; see scripts/kill.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("runs processes for seconds; left out with -short")
	}
	setting := func(name string, preset int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return preset
	}
	kills, seed := setting("RAGFLOW_KILLS", 12), uint64(setting("RAGFLOW_SEED", 1))
	random := rand.New(rand.NewPCG(seed, 77))
	path := filepath.Join(t.TempDir(), "index.db")
	k := &killSteps{seed: seed, now: map[string]search.Entry{}}
	besides := 0
	for n := range kills {
		for said := killChild(t, random, path, k); k.n < said; {
			k.next()
		}
		if caughtUp(t, path, k) {
			besides++
		}
		compareWithFresh(t, path, random, k.now)
		if t.Failed() {
			t.Fatalf("after %d kills with seed %d, at step %d", n+1, seed, k.n)
		}
	}
	t.Logf("%d kills in %d steps, %d of them when a step was saved and not yet told of", kills, k.n, besides)
}

// killChild runs a process from the step on that comes next, kills it, and
// returns the last step that it reported.
func killChild(t *testing.T, random *rand.Rand, path string, k *killSteps) (said int) {
	t.Helper()
	reader := open(t, path, index.Options{})
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s;%d;%d", changeChild, path, k.seed, k.n))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said, after := k.n, k.n+random.IntN(20)
	arm := func() {
		time.AfterFunc(time.Duration(random.IntN(20_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
	}
	armed := false
	for {
		if !armed && said >= after {
			armed = true
			arm()
		}
		if _, err := fmt.Fscanln(out, &said); err != nil {
			break
		}
		readWhileWritten(t, reader)
	}
	_ = cmd.Wait() // killed
	if stderr.Len() > 0 {
		t.Fatal(stderr.String())
	}
	return said
}

// readWhileWritten looks for a state in between, while another process writes:
// every chunk of a snapshot has the word that all texts end with.
func readWhileWritten(t *testing.T, db *index.DB) {
	t.Helper()
	s, err := db.Searcher(t.Context(), "/docs")
	if errors.Is(err, search.ErrNotIndexed) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	hits, err := s.Search(t.Context(), state.Query{Text: "end"}, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(hits); n != s.Docs() || n != s.DocFreq("end") {
		t.Errorf("%d hits of %d chunks, %d with the word", n, s.Docs(), s.DocFreq("end"))
	}
}

// caughtUp reports whether one more step was saved than reported.
func caughtUp(t *testing.T, path string, k *killSteps) bool {
	t.Helper()
	db := open(t, path, index.Options{})
	holds := func(now map[string]search.Entry) bool {
		files, err := db.Files(t.Context(), "/docs")
		if err != nil {
			t.Fatal(err)
		}
		same := len(files) == len(now)
		for source, e := range now {
			same = same && files[source].Title == e.File.Title && files[source].Chunks == len(e.Chunks)
		}
		return same && answersFresh(t, db, now)
	}
	model := func() string {
		e, _, err := db.Embedder(t.Context(), "/docs")
		if err != nil {
			t.Fatal(err)
		}
		return e.Model
	}
	before := maps.Clone(k.now)
	ahead := killSteps{seed: k.seed, n: k.n, now: maps.Clone(k.now), moved: k.moved}
	s := ahead.next()
	switch {
	case s.publish:
		return false
	case s.model != "":
		if last := k.embedder(); last != "" && last != s.model && model() == s.model { // it changed over: all is there
			if v := vectors(t, db, search.VectorSpec{Model: s.model}, "/docs"); v.Missing() > 0 {
				t.Errorf("%d passages have no vector of the embedder that was switched to", v.Missing())
			}
		}
		return false
	case holds(before):
		return false
	case holds(ahead.now):
		*k = ahead
		return true
	}
	t.Errorf("the index holds neither what step %d left nor what the next does", k.n)
	return false
}

// embedder returns the model of the vectors that there are before the next step;
// empty if there are none.
func (k *killSteps) embedder() (last string) {
	replay := killSteps{seed: k.seed, now: map[string]search.Entry{}}
	for replay.n < k.n {
		s := replay.next()
		texts := slices.ContainsFunc(slices.Collect(maps.Values(replay.now)), func(e search.Entry) bool { return len(e.Chunks) > 0 })
		if s.model != "" && texts {
			last = s.model
		}
	}
	return last
}

// answersFresh reports whether the chunks that an index finds are those that it
// should hold.
func answersFresh(t *testing.T, db *index.DB, now map[string]search.Entry) bool {
	t.Helper()
	s, err := db.Searcher(t.Context(), "/docs")
	if errors.Is(err, search.ErrNotIndexed) {
		return len(now) == 0
	}
	if err != nil {
		t.Fatal(err)
	}
	var ids, texts []string
	for _, source := range slices.Sorted(maps.Keys(now)) {
		for _, c := range now[source].Chunks {
			ids, texts = append(ids, c.ID), append(texts, c.Text)
		}
	}
	chunks, err := s.Chunks(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range chunks {
		got = append(got, c.Text)
	}
	return s.Docs() == len(texts) && slices.Equal(got, texts)
}

func compareWithFresh(t *testing.T, path string, random *rand.Rand, now map[string]search.Entry) {
	t.Helper()
	db := open(t, path, index.Options{})
	if found, err := db.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("verify: %v, %v", found, err)
	}
	if len(now) == 0 {
		return
	}
	fresh := open(t, "", index.Options{})
	put(t, fresh, "/docs", slices.Collect(maps.Values(now))...)
	sameAnswers(t, random, searcher(t, db, "/docs"), searcher(t, fresh, "/docs"))
}
