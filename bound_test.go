package ragflow_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/index"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/search"
	"example.com/ragflow/threads"
)

// countedIndex counts how often each root is compared with its folder, and can hold that up.
type countedIndex struct {
	search.Backend
	mu    sync.Mutex
	reads map[string]int
	hold  func(context.Context) error
}

func (c *countedIndex) Files(ctx context.Context, root string) (map[string]search.File, error) {
	c.mu.Lock()
	c.reads[root]++
	c.mu.Unlock()
	if err := c.hold(ctx); err != nil {
		return nil, err
	}
	return c.Backend.Files(ctx, root)
}

// counted is an assistant over the library whose index is counted.
func counted(t *testing.T, hold func(context.Context) error) (*ragflow.Assistant, func() int) {
	t.Helper()
	docs := library(t)
	root, err := ingest.Root(docs)
	if err != nil {
		t.Fatal(err)
	}
	counting := &countedIndex{reads: map[string]int{}, hold: hold}
	a := open(t, ragflow.Config{Docs: []string{docs}, DataDir: t.TempDir(), Index: func(ctx context.Context, _ string) (_ search.Backend, err error) {
		counting.Backend, err = index.Open(ctx, "", index.Options{})
		return counting, err
	}})
	return a, func() int {
		counting.mu.Lock()
		defer counting.mu.Unlock()
		return counting.reads[root]
	}
}

func atOnce(context.Context) error { return nil }

// A rating leaves the replies of others whole, and the next question reads the promoted answers
// again but not the documents.
func TestRatingEmptiesNothing(t *testing.T) {
	a, reads := counted(t, atOnce)
	const question = "How do I water a basil plant?"
	before := ask(t, a, "t", question)
	once := reads()
	if _, err := a.Rate(t.Context(), ragflow.Rating{Thread: "t", Good: true, Question: irrigation}); err != nil {
		t.Fatal(err)
	}
	after, err := a.Reply(t.Context(), before.RunID)
	if err != nil || after.Chunks != before.Chunks {
		t.Errorf("chunks %+v, %v, want %+v", after.Chunks, err, before.Chunks)
	}
	if slices.ContainsFunc(after.Retrieved, func(h ragflow.HitReply) bool { return h.Source == "" }) {
		t.Errorf("hits without a source: %+v", after.Retrieved)
	}
	if ask(t, a, "t", question); reads() != once {
		t.Errorf("the documents were read %d times, want %d", reads(), once)
	}
	if got := foundIn(t, a); len(got) == 0 || got[0] == "basil.md" {
		t.Errorf("the promoted answer is not found: %q", got)
	}
}

// failingStore cannot read the head of a thread once after failing was set.
type failingStore struct {
	threads.Store
	failing *atomic.Bool
}

var errHead = errors.New("the server is away")

func (s failingStore) Head(ctx context.Context, thread string) (graph.Commit, error) {
	if s.failing.CompareAndSwap(true, false) {
		return graph.Commit{}, errHead
	}
	return s.Store.Head(ctx, thread)
}

// A store that fails for a moment does not make the run of an agent one of the plain way.
func TestResumeTellsWhyTheStoreFailed(t *testing.T) {
	var failing atomic.Bool
	broken := make(chan struct{})
	s := llmtest.NewServer(llmtest.SayThen("A volume ", broken, "keeps it. [Source 1]"), llmtest.Say("A volume keeps the data of a container. [Source 1]"))
	defer s.Close()
	a := modelled(t, s, func(c *ragflow.Config) {
		c.ThreadStore = func(ctx context.Context, _ bool) (threads.Store, error) {
			store, err := checkpoint.Open(ctx, ":memory:", checkpoint.Options{})
			return failingStore{store, &failing}, err
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	for e, err := range a.Stream(ctx, ragflow.Question{Text: question, Thread: "t", Agent: true}) {
		if e.Kind == ragflow.Text && err == nil {
			cancel()
		}
	}
	cancel()
	close(broken)
	failing.Store(true)
	if _, err := a.Ask(t.Context(), ragflow.Question{Thread: "t", Resume: true}); !errors.Is(err, errHead) {
		t.Errorf("error %v, want that of the store", err)
	}
	r, err := a.Ask(t.Context(), ragflow.Question{Thread: "t", Resume: true})
	if err != nil || r.Model != "smart" {
		t.Errorf("resumed: %+v, %v", r, err)
	}
}
