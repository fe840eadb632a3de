package checkpoint_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
)

// The flow of the size budget: an input and seven nodes. The delta of the first has a question and that of
// the last an answer, 400 bytes each.
type conversation struct {
	t      testing.TB
	s      graph.Store
	thread string
	lease  graph.Lease
	head   graph.CommitID
	rand   *rand.Rand
	now    time.Time
	state  bytes.Buffer // messages so far
	tail   int          // bytes of deltas since the snapshot
	kept   int          // size of the last snapshot
	turns  int
}

func newConversation(tb testing.TB, s graph.Store) *conversation {
	tb.Helper()
	c := &conversation{t: tb, s: s, rand: rand.New(rand.NewPCG(1, 2)), now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}
	c.thread = c.uuid()
	lease, err := s.Acquire(tb.Context(), c.thread, graph.AcquireOptions{Owner: checkpoint.ProcessOwner(), TTL: time.Hour})
	if err != nil {
		tb.Fatal(err)
	}
	c.lease = lease
	return c
}

func (c *conversation) uuid() string {
	var b [16]byte
	for i := range b {
		b[i] = byte(c.rand.UintN(256))
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (c *conversation) text() string {
	var b strings.Builder
	for b.Len() < 400 {
		for range 1 + c.rand.IntN(9) {
			b.WriteByte(byte('a' + c.rand.IntN(26)))
		}
		b.WriteByte(' ')
	}
	return b.String()[:400]
}

func (c *conversation) put(role string) []byte {
	message, err := json.Marshal(map[string]string{"id": c.uuid(), "role": role, "content": c.text()})
	if err != nil {
		c.t.Fatal(err)
	}
	if c.state.Len() > 0 {
		c.state.WriteByte(',')
	}
	c.state.Write(message)
	return fmt.Appendf(nil, `{"messages":[{"put":%s}]}`, message)
}

// turn writes one turn and returns the size of the snapshot it wrote, if any.
func (c *conversation) turn() (snapshot int) {
	c.t.Helper()
	c.turns++
	run := c.uuid()
	nodes := []string{"", "ingest", "pre_retrieval", "retrieval", "check_and_refine", "post_retrieval", "summarize_conversation", "generate"}
	for step, node := range nodes {
		c.now = c.now.Add(time.Duration(200+c.rand.IntN(2_000_000)) * time.Microsecond)
		took := time.Duration(50_000 + c.rand.IntN(900_000_000))
		b := graph.Batch{Commit: graph.Commit{
			Parent: c.head, Run: run, Step: step, Source: graph.SourceLoop, Status: graph.Running,
			Time: c.now, Fingerprint: "0123456789abcdef", Frontier: nodes[min(step+1, 7):min(step+2, 8)],
			Deltas: []graph.Delta{{Node: node, Rank: max(0, step-1), Notes: graph.Notes{Start: c.now.Add(-took), Duration: took}}},
		}}
		d := &b.Deltas[0]
		switch step {
		case 0:
			b.Source, d.Body, d.Notes = graph.SourceInput, c.put("human"), graph.Notes{}
		case 7:
			b.Status, d.Body = graph.Completed, c.put("ai")
		}
		c.tail += len(d.Body)
		if step == 7 && c.tail > max(8<<10, c.kept) {
			b.Snapshot = fmt.Appendf(nil, `{"messages":[%s]}`, c.state.Bytes())
			snapshot, c.kept, c.tail = len(b.Snapshot), len(b.Snapshot), 0
		}
		id, err := c.s.Commit(c.t.Context(), c.lease, b)
		if err != nil {
			c.t.Fatal(err)
		}
		c.head = id
	}
	return snapshot
}

// summarised writes a conversation of so many turns whose live state never holds
// more than 20 messages, as summarising leaves it.
func summarised(tb testing.TB, s graph.Store, turns int) *conversation {
	tb.Helper()
	c := newConversation(tb, s)
	c.upTo(turns)
	return c
}

// upTo adds turns to a summarised conversation.
func (c *conversation) upTo(turns int) {
	for c.turns < turns {
		if c.turns%6 == 0 { // 6,500 bytes of messages are some 1,500 tokens
			c.state.Reset()
			c.kept = 0
		}
		c.turn()
	}
}

func fileSize(tb testing.TB, path string) int64 {
	tb.Helper()
	info, err := os.Stat(path)
	if err != nil {
		tb.Fatal(err)
	}
	return info.Size()
}

// TestThousandTurns is the budget of the store: 4.5 MB for 1,000 turns, and a
// late turn costs what an early one does.
func TestThousandTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "threads.db")
	s := open(t, path)
	defer func() { _ = s.Close() }()
	c := newConversation(t, s)
	// cost of a turn: statements run, and bytes that went into the write-ahead
	// log, empty before the turn.
	cost := func() (statements, bytes int64) {
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := s.Counters().Statements
		if c.turn() != 0 {
			t.Fatal("a measured turn wrote a snapshot")
		}
		return s.Counters().Statements - before, fileSize(t, path+"-wal")
	}
	turn := func(until int) (snapshots []int) {
		for c.turns < until {
			if n := c.turn(); n > 0 {
				snapshots = append(snapshots, n)
			}
		}
		return snapshots
	}
	snapshots := turn(9)
	earlyStatements, earlyBytes := cost()
	snapshots = append(snapshots, turn(999)...)
	lateStatements, lateBytes := cost()
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	size := fileSize(t, path)
	t.Logf("1,000 turns: %d bytes; snapshots of %d bytes; turn 10: %d statements, %d bytes; turn 1,000: %d statements, %d bytes",
		size, snapshots, earlyStatements, earlyBytes, lateStatements, lateBytes)
	if size > 4_500_000 {
		t.Errorf("%d bytes on disk, want at most 4,500,000", size)
	}
	if got := float64(lateStatements) / float64(earlyStatements); got < 0.8 || got > 1.2 {
		t.Errorf("turn 1,000 runs %.2f times the statements of turn 10", got)
	}
	if got := float64(lateBytes) / float64(earlyBytes); got < 0.8 || got > 1.2 {
		t.Errorf("turn 1,000 writes %.2f times the bytes of turn 10", got)
	}
	if len(snapshots) < 5 || snapshots[len(snapshots)-1] < 300_000 {
		t.Errorf("snapshots of %d bytes: not the sizes the budget is about", snapshots)
	}
	snapshot, deltas, err := s.Load(t.Context(), c.thread, c.head)
	if err != nil {
		t.Fatal(err)
	}
	want := "[" + c.state.String() + "]"
	var got strings.Builder
	got.WriteString("[" + strings.TrimSuffix(strings.TrimPrefix(string(snapshot.Body), `{"messages":[`), "]}"))
	for _, d := range deltas {
		if m, ok := strings.CutPrefix(string(d.Body), `{"messages":[{"put":`); ok {
			got.WriteString("," + strings.TrimSuffix(m, "}]}"))
		}
	}
	if diff := cmp.Diff(want, got.String()+"]"); diff != "" {
		t.Errorf("messages (-want +got):\n%.2000s", diff)
	}
}
