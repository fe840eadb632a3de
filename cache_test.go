package ragflow_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/ragflow"
	"example.com/ragflow/internal/cache"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
	builtin "example.com/ragflow/meaning"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// byWords searches by words alone, so that nothing is made in the background.
func byWords(c ragflow.Config) ragflow.Config {
	c.Retrieval.Rerank, c.Dense.Leg = search.RerankOffline, search.LegLexical
	return c
}

// cached has a cache of answers.
func cached(c ragflow.Config) ragflow.Config {
	c.Cache.On, c.Cache.Results = true, true
	return byWords(c)
}

// sameAnswer reports the differences of two answers to one question.
func sameAnswer(want, got *ragflow.Reply) string {
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(ragflow.Reply{}, "ThreadID", "RunID", "Begun", "LatencyMS", "Cached", "AnswerMD", "FlowTraceMD", "Prompt"))
}

func TestCache(t *testing.T) {
	const question = "How often should I water a basil plant?"
	config := cached(ragflow.Config{Docs: []string{library(t)}, DataDir: t.TempDir()})
	t.Cleanup(func() { // after all were closed
		want := cache.Stats{Values: 1, Hits: 5, Misses: 1}
		got, err := cache.Read(context.Background(), cache.Place{Path: filepath.Join(config.DataDir, "cache.db")})
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(cache.Stats{}, "Bytes")); err != nil || d != "" || got.Bytes < 1000 {
			t.Errorf("%d bytes, %v: %s", got.Bytes, err, d)
		}
	})
	for _, process := range []string{"same process", "next process"} {
		a := open(t, config)
		first := ask(t, a, "first "+process, question)
		again := ask(t, a, "again "+process, "  How often should I\twater a basil plant? ")
		if (first.Cached != nil) != (process == "next process") || again.Cached == nil {
			t.Fatalf("%s: cached %+v, then %+v", process, first.Cached, again.Cached)
		}
		want := state.Cached{Run: first.RunID, Time: first.Begun, Question: question, Similarity: 1}
		if process == "next process" {
			want = *first.Cached
		}
		if d := cmp.Diff(&want, again.Cached, cmpopts.EquateApproxTime(10*time.Second)); d != "" {
			t.Errorf("%s", d)
		}
		again.Question = first.Question
		if d := sameAnswer(first, again); d != "" {
			t.Errorf("%s: %s", process, d)
		}
		if again.Usage.Calls != 0 || again.RunID == first.RunID || !strings.Contains(again.AnswerMD, "from the cache") {
			t.Errorf("%+v\n%s", again, again.AnswerMD)
		}
		for _, node := range []string{"ingest", "pre_retrieval", "retrieval", "check_and_refine", "post_retrieval", "summarize_conversation", "generate"} {
			if !strings.Contains(again.FlowTraceMD, node) {
				t.Errorf("%s is not in the trace:\n%s", node, again.FlowTraceMD)
			}
		}
		if !strings.Contains(again.FlowTraceMD, "from the cache: ") || !strings.Contains(again.FlowTraceMD, "Skipped (the answer is from the cache)") {
			t.Errorf("the trace:\n%s", again.FlowTraceMD)
		}
		// The conversation is as complete as without the cache.
		var threads []state.State
		for _, thread := range []string{"first ", "again "} {
			s, err := a.Threads().StateAt(t.Context(), thread+process, 0)
			if err != nil {
				t.Fatal(err)
			}
			threads = append(threads, s)
		}
		if d := cmp.Diff(threads[0], threads[1], cmpopts.IgnoreFields(state.Message{}, "ID", "Time"), cmpopts.IgnoreFields(state.Turn{}, "Cached"), cmpopts.EquateEmpty(),
			cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Content" }, cmp.Comparer(func(x, y string) bool {
				return strings.Join(strings.Fields(x), " ") == strings.Join(strings.Fields(y), " ")
			}))); d != "" {
			t.Errorf("%s", d)
		}
		follow := []*ragflow.Reply{ask(t, a, "first "+process, "And the mint?"), ask(t, a, "again "+process, "And the mint?")}
		if d := sameAnswer(follow[0], follow[1]); d != "" || follow[1].Cached != nil {
			t.Errorf("cached %v: %s", follow[1].Cached, d)
		}
		reread, err := a.Reply(t.Context(), again.RunID)
		if err != nil || reread.AnswerMD != again.AnswerMD || reread.Cached == nil {
			t.Errorf("%+v, %v", reread, err)
		}
		var told strings.Builder
		streamed(t, a, ragflow.Question{Text: question}, func(e ragflow.Event) { told.WriteString(e.Text) })
		if told.String() != first.Answer {
			t.Errorf("told %q", told.String())
		}
	}
}

// TestCacheKeepsNot: what is declined or has a warning is not kept, and an answer that was rated bad is forgotten.
func TestCacheKeepsNot(t *testing.T) {
	a := open(t, cached(ragflow.Config{Docs: []string{library(t)}, DataDir: t.TempDir()}))
	for _, question := range []string{"Which visa do I need to travel to Mongolia?", "thanks", "How often should I water basil? " + strings.Repeat("x", 11_000)} {
		for range 2 {
			if r := ask(t, a, "", question); r.Cached != nil {
				t.Errorf("%.30q is from the cache", question)
			}
		}
	}
	const question = "How often should I water a basil plant?"
	first := ask(t, a, "", question)
	again := ask(t, a, "", question)
	if again.Cached == nil {
		t.Fatal("not from the cache")
	}
	if _, err := a.Rate(t.Context(), ragflow.Rating{Run: again.RunID}); err != nil {
		t.Fatal(err)
	}
	if r := ask(t, a, "", question); r.Cached != nil {
		t.Errorf("a bad answer, first given by %s, was given again: %+v", first.RunID, r.Cached)
	}
}

// TestCacheIsApart: owners, collections, filters and settings share no answers.
func TestCacheIsApart(t *testing.T) {
	data := t.TempDir()
	config := cached(ragflow.Config{Docs: []string{library(t)}, DataDir: data})
	a := open(t, config)
	for _, name := range []string{"one", "two"} {
		l, err := a.Collections().Make(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.PutText(t.Context(), "basil.md", "Basil", "Water a basil plant every second day.", nil); err != nil {
			t.Fatal(err)
		}
	}
	var filter state.Filter
	if err := filter.Add("title=Basil"); err != nil {
		t.Fatal(err)
	}
	q := ragflow.Question{Text: "How often should I water a basil plant?"}
	strict := ragflow.Settings{Context: state.ContextOptions{MaxSources: 1}}
	for name, other := range map[string]struct {
		owner  string
		change func(*ragflow.Question)
	}{
		"nobody":        {},
		"Ada":           {owner: "ada"},
		"Bob":           {owner: "bob"},
		"one":           {change: func(q *ragflow.Question) { q.Collections = []string{"one"} }},
		"two":           {change: func(q *ragflow.Question) { q.Collections = []string{"two"} }},
		"Ada's one":     {owner: "ada", change: func(q *ragflow.Question) { q.Collections = []string{"one"} }},
		"both":          {change: func(q *ragflow.Question) { q.Collections = []string{"one", "two"} }},
		"filtered":      {change: func(q *ragflow.Question) { q.Filter = filter }},
		"fewer sources": {change: func(q *ragflow.Question) { q.Settings = &strict }},
	} {
		q := q
		if other.change != nil {
			other.change(&q)
		}
		ctx := t.Context()
		if other.owner != "" {
			ctx = ragflow.OwnedBy(ctx, other.owner)
		}
		for _, want := range []bool{false, true} {
			r, err := a.Ask(ctx, q)
			if err != nil || (r.Cached != nil) != want {
				t.Errorf("%s: cached %v, %v, want %v", name, r, err, want)
			}
		}
	}
	// The next process has another dictionary, other weights and so on.
	dictionary := filepath.Join(t.TempDir(), "words")
	write(t, dictionary, "water: irrigate\n")
	for name, change := range map[string]func(*ragflow.Config){
		"dictionary": func(c *ragflow.Config) { c.Dictionary = dictionary },
		"weights":    func(c *ragflow.Config) { c.Retrieval.TopK = 7 },
		"addresses":  func(c *ragflow.Config) { c.Cache.Models = "another" },
		"documents":  func(c *ragflow.Config) { c.Docs = []string{filepath.Join(c.Docs[0], "herbs")} },
	} {
		c := config
		change(&c)
		if r := ask(t, open(t, c), "", q.Text); r.Cached != nil {
			t.Errorf("another %s: the answer is from the cache", name)
		}
	}
	write(t, dictionary, "water: soak\n")
	c := config
	c.Dictionary = dictionary
	if r := ask(t, open(t, c), "", q.Text); r.Cached != nil {
		t.Error("the dictionary changed, and the answer is from the cache")
	}
	if r := ask(t, open(t, config), "", q.Text); r.Cached == nil {
		t.Error("nothing changed, and the answer is not from the cache")
	}
}

func TestCacheTimeToLive(t *testing.T) {
	start := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	var passed atomic.Int64 // since the start; the query log reads the clock, too
	clock := func() time.Time { return start.Add(time.Duration(passed.Load())) }
	config := cached(ragflow.Config{Docs: []string{library(t)}, DataDir: t.TempDir(), Clock: clock})
	config.Cache.TTL = time.Hour
	a := open(t, config)
	const question = "How often should I water a basil plant?"
	ask(t, a, "", question)
	for _, tt := range []struct {
		after time.Duration
		want  bool
	}{{59 * time.Minute, true}, {2 * time.Minute, false}, {0, true}, {-3 * time.Hour, false}} {
		passed.Add(int64(tt.after))
		if r := ask(t, a, "", question); (r.Cached != nil) != tt.want {
			t.Errorf("at %v: cached %+v", clock(), r.Cached)
		}
	}
}

// TestBrokenCache: without its file questions are answered, and the person is told once.
func TestBrokenCache(t *testing.T) {
	for name, broken := range map[string]func(path string) error{
		"damaged":  func(path string) error { return os.WriteFile(path, []byte("no database at all, but bytes"), 0o600) },
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			config := cached(ragflow.Config{Docs: []string{library(t)}, DataDir: t.TempDir(), Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if err := broken(filepath.Join(config.DataDir, "cache.db")); err != nil {
				t.Fatal(err)
			}
			a := open(t, config)
			for range 3 {
				if r := ask(t, a, "", "How often should I water a basil plant?"); r.Cached != nil || r.Abstained || len(r.Warnings) > 0 {
					t.Errorf("%+v", r)
				}
			}
			if n := strings.Count(log.String(), "cache"); n == 0 || strings.Count(log.String(), "\n") != 1 {
				t.Errorf("told: %s", log.String())
			}
		})
	}
}

// TestSealedCache: with keys of threads the file has no question and no answer in plain text.
func TestSealedCache(t *testing.T) {
	config := cached(ragflow.Config{Docs: []string{library(t)}, DataDir: t.TempDir()})
	const question = "How often should I water a basil plant?"
	ask(t, open(t, config), "", question)
	var err error
	if config.ThreadKeys, err = ragflow.ParseKeyring("k:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))); err != nil {
		t.Fatal(err)
	}
	sealed := config
	sealed.DataDir = t.TempDir()
	plain, err := os.ReadFile(filepath.Join(config.DataDir, "cache.db"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(sealed.DataDir, "cache.db"), string(plain))
	for _, want := range []bool{false, true} {
		a, err := ragflow.Open(t.Context(), sealed)
		if err != nil {
			t.Fatal(err)
		}
		if r := ask(t, a, "", question); (r.Cached != nil) != want {
			t.Errorf("cached %+v, want %v", r.Cached, want)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"cache.db", "cache.db-wal"} {
		text, err := os.ReadFile(filepath.Join(sealed.DataDir, file))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("basil")) {
			t.Errorf("%s has plain text", file)
		}
	}
}

// TestCacheWithModels: a question that is asked again asks no model, unless one failed or is another one.
func TestCacheWithModels(t *testing.T) {
	var failing atomic.Bool
	failing.Store(true)
	s := llmtest.NewServer(script(func(w http.ResponseWriter, r *http.Request) {
		if failing.Load() {
			llmtest.Status(http.StatusBadRequest, "not now")(w, r)
			return
		}
		llmtest.Say("A volume keeps it. [Source 1]")(w, r)
	}))
	defer s.Close()
	chat := func(name string) llm.Chat {
		client, err := openai.New(openai.Config{Provider: "played", BaseURL: s.URL(), Key: plantedKey, MaxBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.CloseIdle)
		return client.Chat(name)
	}
	a := modelled(t, s, func(c *ragflow.Config) {
		*c = cached(*c)
		c.Models.Named = map[string]llm.Chat{"other": chat("other")}
	})
	if r := ask(t, a, "", question); r.Cached != nil || len(r.Warnings) == 0 {
		t.Fatalf("the model did not fail: %+v", r)
	}
	failing.Store(false)
	first := ask(t, a, "", question)
	if first.Cached != nil || first.Model != "smart" {
		t.Fatalf("%+v", first)
	}
	calls := len(s.Calls())
	r := ask(t, a, "", question)
	if r.Cached == nil || r.Answer != first.Answer || r.Usage.Calls != 0 || r.CostUSD != 0 || len(s.Calls()) != calls {
		t.Errorf("%+v, %d requests more", r, len(s.Calls())-calls)
	}
	r, err := a.Ask(t.Context(), ragflow.Question{Text: question, Settings: &ragflow.Settings{Model: "other"}})
	if err != nil || r.Cached != nil {
		t.Errorf("another model: %+v, %v", r, err)
	}
	r, err = a.Ask(t.Context(), ragflow.Question{Text: question, Agent: true})
	if err != nil || r.Cached != nil {
		t.Errorf("an agent: %+v, %v", r, err)
	}
}

// TestSimilarQuestions: with Cache.Similar a question in other words gets the same answer, and says whose it is.
func TestSimilarQuestions(t *testing.T) {
	if !builtin.Fast() {
		t.Skip("the built-in model is too slow here")
	}
	config := cached(ragflow.Config{Docs: []string{library(t)}, DataDir: t.TempDir()})
	config.Cache.Similar = 0.9
	a := open(t, config)
	const question = "How often should I water a basil plant?"
	first := ask(t, a, "", question)
	for asked, want := range map[string]bool{
		"how often should I water the basil plants":                true,
		"How often should I please water a basil plant?":           true,
		"How often should I not water a basil plant?":              false,
		"How often should I water a mint plant?":                   false,
		"How often should a basil plant water I?":                  false,
		"When should I water a basil plant?":                       false,
		"How often should I water a basil plant without sunlight?": false,
	} {
		r := ask(t, a, "", asked)
		if (r.Cached != nil) != want {
			t.Errorf("%q: cached %+v", asked, r.Cached)
			continue
		}
		if want && (r.Answer != first.Answer || r.Cached.Question != question || r.Question != asked || !strings.Contains(r.AnswerMD, question) || r.Cached.Similarity < 0.9) {
			t.Errorf("%+v\n%s", r, r.AnswerMD)
		}
	}
	if r, err := a.Analytics(t.Context(), ragflow.AnalyticsQuery{}); err != nil || r.Cached != 2 || r.Similar != 2 {
		t.Errorf("logged %+v, %v", r, err)
	}
	if _, err := ragflow.Open(t.Context(), ragflow.Config{Cache: ragflow.Cache{Similar: 0.5}}); err == nil {
		t.Error("a cosine of 0.5 was taken")
	}
}

// TestCacheIsNeverStale edits documents, ratings and settings at random and asks after each edit. An
// assistant with a cache, which is opened again now and then, gives the answers of one without.
func TestCacheIsNeverStale(t *testing.T) {
	rounds, seeds := 30, 2
	if os.Getenv("RAGFLOW_FULL") != "" {
		rounds, seeds = 400, 25
	}
	hits, asked := 0, 0
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			e := newEdits(t, uint64(seed))
			for range rounds {
				e.edit(t)
				for range 1 + e.random.IntN(4) {
					for _, hit := range []bool{e.compare(t), e.compareSearch(t)} {
						asked++
						if hit {
							hits++
						}
					}
				}
			}
		})
	}
	if t.Logf("%d of %d questions and searches answered from the cache", hits, asked); hits < asked/10 {
		t.Error("that is too few to try anything")
	}
}

// edits are two assistants over one folder, and the changes that both see.
type edits struct {
	random  *rand.Rand
	docs    string
	configs [2]ragflow.Config // without and with a cache
	both    [2]*ragflow.Assistant
	replies [2]*ragflow.Reply // the last ones
	q       ragflow.Question
	owner   string
}

func newEdits(t *testing.T, seed uint64) *edits {
	t.Helper()
	e := &edits{random: rand.New(rand.NewPCG(seed, 7)), docs: library(t)}
	for i, with := range []func(ragflow.Config) ragflow.Config{byWords, cached} {
		ids := 0
		e.configs[i] = with(ragflow.Config{Docs: []string{e.docs}, DataDir: t.TempDir(), NewID: func() string {
			ids++
			return fmt.Sprintf("00000000-0000-7000-8000-%012d", ids)
		}})
		e.both[i] = open(t, e.configs[i])
	}
	return e
}

// page returns the path of a page, and a text for it.
func (e *edits) page() (path, text string) {
	herb := []string{"basil", "mint", "thyme"}[e.random.IntN(3)]
	path = filepath.Join(e.docs, "herbs", herb+".md")
	return path, fmt.Sprintf("# %s\n\nWater a %s plant every %d days. It costs %d euros.\n", herb, herb, 2+e.random.IntN(4), 1+e.random.IntN(3))
}

// edit changes something.
func (e *edits) edit(t *testing.T) {
	t.Helper()
	path, text := e.page()
	switch e.random.IntN(16) {
	case 0, 1: // also with the same size and time
		old, err := os.Stat(path)
		write(t, path, text)
		if err == nil {
			_ = os.Chtimes(path, old.ModTime(), old.ModTime())
		}
	case 2:
		_ = os.Remove(path)
	case 3:
		write(t, filepath.Join(e.docs, fmt.Sprintf("new%d.md", e.random.IntN(3))), text)
	case 4:
		write(t, path+".meta.yaml", fmt.Sprintf("category: herb\nversion: %d\n", e.random.IntN(3)))
	case 5:
		for _, a := range e.both {
			if _, err := a.Library().Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	case 6:
		good := e.random.IntN(2) == 0
		for i, a := range e.both {
			if e.replies[i] == nil {
				continue
			}
			if _, err := a.Rate(t.Context(), ragflow.Rating{Run: e.replies[i].RunID, Good: good}); err != nil && !errors.Is(err, ragflow.ErrNoAnswer) {
				t.Fatal(err)
			}
		}
	case 7:
		e.q.Settings = &ragflow.Settings{Threshold: []float64{0, 0.4, 0.6}[e.random.IntN(3)], Context: state.ContextOptions{MaxSources: e.random.IntN(3)}}
	case 8:
		e.q.Filter = state.Filter{}
		if e.random.IntN(2) == 0 {
			if err := e.q.Filter.Add("path=herbs/*"); err != nil {
				t.Fatal(err)
			}
		}
	case 9:
		e.owner = []string{"", "ada", "bob"}[e.random.IntN(3)]
	case 10:
		for i, a := range e.both {
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			e.both[i] = open(t, e.configs[i])
		}
	default: // nothing changed
	}
}

// hide leaves out the folders of promoted answers, which differ.
var hide = cmp.FilterPath(func(p cmp.Path) bool {
	return strings.HasSuffix(p.String(), "Root") || strings.HasSuffix(p.String(), "Path")
}, cmp.Ignore())

// compare asks both a question, and reports whether the answer was from the cache.
func (e *edits) compare(t *testing.T) bool {
	t.Helper()
	herb := []string{"basil", "mint", "thyme"}[e.random.IntN(3)]
	e.q.Text = []string{"How often should I water a %s plant?", "What does a %s plant cost?"}[e.random.IntN(2)]
	e.q.Text = fmt.Sprintf(e.q.Text, herb)
	var faults [2]error
	for i, a := range e.both {
		ctx := t.Context()
		if e.owner != "" {
			ctx = ragflow.OwnedBy(ctx, e.owner)
		}
		e.replies[i], faults[i] = a.Ask(ctx, e.q)
	}
	if faults[0] != nil || faults[1] != nil {
		if fmt.Sprint(faults[0]) != fmt.Sprint(faults[1]) {
			t.Fatalf("without a cache: %v\nwith one: %v", faults[0], faults[1])
		}
		return false
	}
	if d := cmp.Diff(e.replies[0], e.replies[1], hide, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(ragflow.Reply{}, "Begun", "LatencyMS", "Cached")); d != "" {
		t.Fatalf("%q, from the cache: %v: (-without +with)\n%s", e.q.Text, e.replies[1].Cached != nil, d)
	}
	return e.replies[1].Cached != nil
}

// compareSearch searches in both for the last question, and reports whether the results were from the cache.
func (e *edits) compareSearch(t *testing.T) bool {
	t.Helper()
	o := ragflow.SearchOptions{Plain: true, Request: search.Request{Filter: e.q.Filter, K: 1 + e.random.IntN(2)}}
	var found [2]*ragflow.SearchReply
	var faults [2]error
	for i, a := range e.both {
		found[i], faults[i] = a.Search(t.Context(), e.q.Text, o)
	}
	if faults[0] != nil || faults[1] != nil {
		if fmt.Sprint(faults[0]) != fmt.Sprint(faults[1]) {
			t.Fatalf("without a cache: %v\nwith one: %v", faults[0], faults[1])
		}
		return false
	}
	if d := cmp.Diff(found[0], found[1], hide, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(ragflow.SearchReply{}, "Cached")); d != "" {
		t.Fatalf("%q, from the cache: %v: (-without +with)\n%s", e.q.Text, found[1].Cached != nil, d)
	}
	return found[1].Cached != nil
}
