package graph_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
)

// approval is an answer with a closed set and a check of its own.
type approval struct {
	Verdict string `json:"verdict" enum:"yes,no" doc:"whether to go on"`
	Amount  int8   `json:"amount,omitempty"`
}

func (a approval) Validate() error {
	if a.Amount > 100 {
		return errors.New("more than 100 needs two people")
	}
	return nil
}

// asks is a node that asks keys, counts its runs and says what it learned.
func asks(ran *int, keys ...string) node {
	return func(ctx context.Context, _ list) (item, error) {
		*ran++
		var said []string
		var errs []error
		for _, k := range keys {
			a, err := graph.Ask[approval](ctx, k, "do "+k+"?")
			said, errs = append(said, k+":"+a.Verdict), append(errs, err)
		}
		return item{strings.Join(said, ",")}, errors.Join(errs...)
	}
}

func ids(err error) []string {
	i, ok := errors.AsType[*graph.InterruptError](err)
	if !ok {
		return []string{fmt.Sprint("no interrupt: ", err)}
	}
	var out []string
	for _, q := range i.Questions {
		out = append(out, q.ID())
	}
	return out
}

func TestAsk(t *testing.T) {
	m, ran, sibling := newMemStore(), 0, 0
	p := three(t, map[string]node{
		"b": asks(&ran, "one", "two"),
		"c": func(context.Context, list) (item, error) { sibling++; return item{"c"}, nil },
	})
	r := p.Runner(graph.Options{Store: m})
	events, err := told(t, r, ask{Thread: "t", Input: item{"?"}})
	if diff := cmp.Diff([]string{"b/one", "b/two"}, ids(err)); diff != "" {
		t.Fatalf("questions (-want +got):\n%s", diff)
	}
	if want := "run_ended interrupted b+c ?a"; events[len(events)-1] != want {
		t.Errorf("told %q last, want %q", events[len(events)-1], want)
	}
	yes := map[string]any{"verdict": "yes"}
	resume := func(answers map[string]any) (list, error) {
		return p.Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: "t", Resume: true, Answers: answers})
	}

	before := logged(m)
	for name, tt := range map[string]struct {
		answers map[string]any
		want    string
	}{
		"unknown key": {map[string]any{"three": yes}, `answer "three": no open question has this key; the open questions are ["b/one" "b/two"]`},
		"wrong type":  {map[string]any{"one": 7}, `answer "one": answer: type: 7 has type "integer", want "object"`},
		"wrong field": {map[string]any{"one": map[string]any{"verdict": "yes", "by": "me"}}, `answer "one": answer: unexpected additional properties ["by"]`},
		"not in set":  {map[string]any{"one": map[string]any{"verdict": "maybe"}}, `answer "one": answer: /properties/verdict: enum: maybe does not equal any of: [yes no]`},
		"too large":   {map[string]any{"one": map[string]any{"verdict": "yes", "amount": 200}}, `answer "one": answer: /properties/amount: maximum: 200/1 is greater than 127.000000`},
		"one of two":  {map[string]any{"one": yes, "two": nil}, `answer "two": answer: type: null has type "null", want "object"`},
		"twice":       {map[string]any{"one": yes, "b/one": yes}, `answer "one": the question is answered twice`},
	} {
		_, err := resume(tt.answers)
		if a, ok := errors.AsType[*graph.AnswerError](err); !ok || a.Error() != tt.want {
			t.Errorf("%s: error %v, want %s", name, err, tt.want)
		}
	}
	if diff := cmp.Diff(before, logged(m)); diff != "" || len(m.threads["t"].pending) != 1 || ran != 1 {
		t.Errorf("refused answers changed something (-before +after):\n%s", diff)
	}

	if _, err := resume(nil); !slices.Equal(ids(err), []string{"b/one", "b/two"}) || ran != 1 {
		t.Errorf("resumed without answers: %v; ran %d times", err, ran)
	}
	for range 2 { // the same answer can be sent again
		if _, err := resume(map[string]any{"one": approval{Verdict: "yes"}}); !slices.Equal(ids(err), []string{"b/two"}) || ran != 1 {
			t.Errorf("resumed with one answer: %v; ran %d times", err, ran)
		}
	}
	if _, err := resume(map[string]any{"one": approval{Verdict: "no"}}); err == nil || !strings.Contains(err.Error(), "has another answer already") {
		t.Errorf("another answer: %v", err)
	}
	s, err := resume(map[string]any{"b/two": approval{Verdict: "no"}})
	if err != nil || !slices.Equal(s.Items, []string{"?", "a", "one:yes,two:no", "c", "d"}) || ran != 2 || sibling != 1 {
		t.Errorf("%v, %v; ran %d times, its sibling %d", s.Items, err, ran, sibling)
	}
	h := history(m)
	got := h[len(h)-2].Deltas[0].Notes.Answers
	if want := []graph.Answer{
		{At: "b", Key: "one", Value: json.RawMessage(`{"verdict":"yes"}`)}, {At: "b", Key: "two", Value: json.RawMessage(`{"verdict":"no"}`)},
	}; !cmp.Equal(got, want) {
		t.Errorf("noted %s", got)
	}
}

// An answer that the type itself refuses opens the question again.
func TestAskAgain(t *testing.T) {
	ran := 0
	r := build(t, "a", map[string]node{"a": asks(&ran, "k")}, "^ a, a $").Runner(graph.Options{Store: newMemStore()})
	if _, err := r.Invoke(t.Context(), ask{Thread: "t"}); !slices.Equal(ids(err), []string{"a/k"}) {
		t.Fatal(err)
	}
	_, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true, Answers: map[string]any{"k": approval{"yes", 101}}})
	if err == nil || err.Error() != `waits for answers to "a/k" (the last answer was rejected: more than 100 needs two people)` {
		t.Errorf("error %v", err)
	}
	s, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true, Answers: map[string]any{"k": approval{"yes", 99}}})
	if err != nil || !slices.Equal(s.Items, []string{"k:yes"}) || ran != 3 {
		t.Errorf("%v, %v; ran %d times", s.Items, err, ran)
	}
}

// A node that asks with one key until it likes the answer gets a new answer each time.
func TestAskInALoop(t *testing.T) {
	n := func(ctx context.Context, _ list) (item, error) {
		said := ""
		for {
			a, err := graph.Ask[approval](ctx, "k", "more?")
			if err != nil {
				return item{}, err
			}
			if said += a.Verdict; a.Verdict == "no" {
				return item{said}, nil
			}
		}
	}
	m := newMemStore()
	call := func(q ask) (list, error) {
		q.Thread = "t"
		return build(t, "a", map[string]node{"a": n}, "^ a, a $").Runner(graph.Options{Store: m}).Invoke(t.Context(), q)
	}
	_, err := call(ask{})
	for _, answer := range []approval{{"yes", 1}, {"yes", 101}, {"yes", 2}} {
		if !slices.Equal(ids(err), []string{"a/k"}) {
			t.Fatal(err)
		}
		_, err = call(ask{Resume: true, Answers: map[string]any{"k": answer}})
	}
	s, err := call(ask{Resume: true, Answers: map[string]any{"k": approval{"no", 3}}})
	if err != nil || !slices.Equal(s.Items, []string{"yesyesno"}) {
		t.Fatal(s, err)
	}
	for c, err := range m.Walk(t.Context(), "t", 0) {
		if got := c.Deltas[0].Notes.Answers; err != nil || len(got) != 3 {
			t.Errorf("%v, %v; want the three accepted answers", got, err)
		}
		break
	}
}

// A key that a store would change is refused before anything happens.
func TestKeysThatAStoreWouldChange(t *testing.T) {
	for _, key := range []string{"\xff", "a\x00"} {
		done := 0
		p := build(t, "a", map[string]node{"a": func(ctx context.Context, _ list) (item, error) {
			_, asked := graph.Ask[bool](ctx, key, "?")
			_, err := graph.Once(ctx, key, func(context.Context, string) (int, error) { done++; return 1, nil })
			return item{}, errors.Join(asked, err)
		}}, "^ a, a $")
		_, err := p.Runner(graph.Options{Store: newMemStore()}).Invoke(t.Context(), ask{Thread: "t"})
		if _, ok := errors.AsType[*graph.EntryError](err); !ok || done != 0 || strings.Count(err.Error(), "key: ") != 2 {
			t.Errorf("%v; done %d times", err, done)
		}
	}
}

// Of two nodes that ask, each continues when its own questions are answered.
func TestAskSideBySide(t *testing.T) {
	m, b, c := newMemStore(), 0, 0
	r := three(t, map[string]node{"b": asks(&b, "k"), "c": asks(&c, "k", "l")}).Runner(graph.Options{Store: m})
	steps := []struct {
		answers map[string]any
		open    []string
		b, c    int
	}{
		{nil, []string{"b/k", "c/k", "c/l"}, 1, 1},
		{map[string]any{"c/k": approval{Verdict: "no"}}, []string{"b/k", "c/l"}, 1, 1},
		{map[string]any{"b/k": approval{Verdict: "yes"}}, []string{"c/l"}, 2, 1},
		{map[string]any{"c/k": approval{Verdict: "no"}}, []string{"c/l"}, 2, 1},
	}
	for i, s := range steps {
		_, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: i > 0, Answers: s.answers})
		if !slices.Equal(ids(err), s.open) || b != s.b || c != s.c {
			t.Fatalf("%d: %v; b ran %d times, c %d", i, err, b, c)
		}
	}
	if _, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true, Answers: map[string]any{"c/k": approval{Verdict: "yes"}}}); err == nil ||
		!strings.Contains(err.Error(), "has another answer already") {
		t.Errorf("error %v", err)
	}
	s, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true, Answers: map[string]any{"l": approval{Verdict: "yes"}}})
	if got := strings.Join(s.Items, " "); err != nil || got != "a k:yes k:no,l:yes d" || b != 2 || c != 2 {
		t.Errorf("%s, %v; b ran %d times, c %d", got, err, b, c)
	}
}

func TestAskInFanOut(t *testing.T) {
	worker := func(ctx context.Context, _ list, part string) (item, error) {
		if part == "y" {
			return item{"y"}, nil
		}
		a, err := graph.Ask[approval](ctx, "ok", part)
		return item{part + a.Verdict}, err
	}
	fan := graph.FanOut(0, func(list) []string { return []string{"x", "y", "z"} }, worker, func(_ list, us []item) (item, error) {
		return item{us[0].Add + us[1].Add + us[2].Add}, nil
	})
	r := build(t, "a", map[string]node{"a": fan}, "^ a, a $").Runner(graph.Options{Store: newMemStore()})
	if _, err := r.Invoke(t.Context(), ask{Thread: "t"}); !slices.Equal(ids(err), []string{"a[0]/ok", "a[2]/ok"}) {
		t.Fatal(err)
	}
	_, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true, Answers: map[string]any{"ok": approval{Verdict: "no"}}})
	if err == nil || !strings.Contains(err.Error(), `several open questions have this key; use one of ["a[0]/ok" "a[2]/ok"]`) {
		t.Errorf("error %v", err)
	}
	s, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true, Answers: map[string]any{
		"a[0]/ok": approval{Verdict: "yes"}, "a[2]/ok": approval{Verdict: "no"},
	}})
	if err != nil || !slices.Equal(s.Items, []string{"xyesyzno"}) {
		t.Errorf("%v, %v", s.Items, err)
	}
}

func TestAskOutsideOfARun(t *testing.T) {
	if _, err := asks(new(int), "k")(t.Context(), list{}); err == nil || !strings.Contains(err.Error(), "not in a run") {
		t.Errorf("error %v", err)
	}
}

// A failure, a retry or a handler beside a question does not lose it.
func TestAskIsNoFailure(t *testing.T) {
	m, ran, broken := newMemStore(), 0, true
	p, err := plan(t, tasks{
		"a": {Run: asks(&ran, "k"), Retry: graph.Retry{Attempts: 5}, OnError: graph.OnError[list, item]{Update: sorry}},
		"b": {Run: func(context.Context, list) (item, error) {
			if broken {
				return item{}, errRefused
			}
			return item{"b"}, nil
		}},
	}, "^ a, ^ b, a $, b $")
	if err != nil {
		t.Fatal(err)
	}
	r := p.Runner(graph.Options{Store: m, Parallel: 1})
	if _, err := r.Invoke(t.Context(), ask{Thread: "t"}); !errors.Is(err, errRefused) || ran != 1 {
		t.Fatalf("%v after %d runs", err, ran)
	}
	broken = false
	s, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true, Answers: map[string]any{"k": approval{Verdict: "yes"}}})
	if err != nil || !slices.Equal(s.Items, []string{"k:yes", "b"}) || ran != 2 {
		t.Errorf("%v, %v after %d runs", s, err, ran)
	}
}

func TestOnce(t *testing.T) {
	m, ran, keys := newMemStore(), 0, []string{}
	broken := 2
	n := func(ctx context.Context, _ list) (item, error) {
		ran++
		paid, err := graph.Once(ctx, "pay", func(_ context.Context, key string) (int, error) {
			keys = append(keys, key)
			if broken == 2 {
				broken--
				return 0, errFlaky
			}
			return 42, nil
		})
		if err != nil {
			return item{}, err
		}
		if _, err := graph.Ask[bool](ctx, "go on", paid); err != nil {
			return item{}, err
		}
		if broken--; broken == 0 {
			return item{}, errRefused
		}
		return item{strconv.Itoa(paid)}, nil
	}
	p := build(t, "a", map[string]node{"a": n}, "^ a, a $")
	call := func(q ask) (list, error) {
		q.Thread = "t"
		return p.Runner(graph.Options{Store: m}).Invoke(t.Context(), q)
	}
	if _, err := call(ask{}); !errors.Is(err, errFlaky) {
		t.Fatal(err)
	}
	if _, err := call(ask{Resume: true}); !slices.Equal(ids(err), []string{"a/go on"}) {
		t.Fatal(err)
	}
	if _, err := call(ask{Resume: true, Answers: map[string]any{"go on": true}}); !errors.Is(err, errRefused) {
		t.Fatal(err)
	}
	s, err := call(ask{Resume: true})
	if err != nil || !slices.Equal(s.Items, []string{"42"}) || ran != 4 {
		t.Errorf("%v, %v after %d runs", s, err, ran)
	}
	if len(keys) != 2 || keys[0] != keys[1] || len(keys[0]) != 32 {
		t.Errorf("done with the keys %q, want one twice", keys)
	}
	if len(m.threads["t"].pending) != 0 {
		t.Errorf("left behind %v", m.threads["t"].pending)
	}
}

// The idempotency key of an action is the same each time the step runs, and another one for
// another thread, turn or fork.
func TestIdempotencyKeys(t *testing.T) {
	var keys []string
	n := func(ctx context.Context, _ list) (item, error) {
		_, err := graph.Once(ctx, "k", func(_ context.Context, key string) (int, error) {
			keys = append(keys, key)
			return 0, errFlaky
		})
		return item{}, err
	}
	m := newMemStore()
	r := build(t, "a", map[string]node{"a": n}, "^ a, a $").Runner(graph.Options{Store: m})
	call := func(thread string, resume bool) {
		if _, err := r.Invoke(t.Context(), ask{Thread: thread, Run: "same", Resume: resume}); !errors.Is(err, errFlaky) {
			t.Fatal(err)
		}
	}
	call("t", false)
	call("t", true)
	call("t", true)
	if err := r.Fork(t.Context(), graph.Point{Thread: "t"}, "fork"); err != nil {
		t.Fatal(err)
	}
	call("fork", true)
	call("t", false)
	call("other", false)
	if same := keys[:3]; len(slices.Compact(same)) != 1 {
		t.Errorf("one step had the keys %q", same)
	}
	if rest := slices.Compact(slices.Sorted(slices.Values(keys[2:]))); len(rest) != 4 {
		t.Errorf("keys %q, want another one for the fork, the next turn and another thread", keys)
	}
}

// A result that cannot be saved is not returned, so that nothing is built on it.
func TestOnceUnsaved(t *testing.T) {
	m, disk, done := newMemStore(), errors.New("disk full"), 0
	p := build(t, "a", map[string]node{"a": func(ctx context.Context, _ list) (item, error) {
		v, err := graph.Once(ctx, "k", func(context.Context, string) (string, error) { done++; return "v", nil })
		return item{v}, err
	}}, "^ a, a $")
	m.before = func(op string) error {
		if op == "pend" {
			return disk
		}
		return nil
	}
	r := p.Runner(graph.Options{Store: m})
	if _, err := r.Invoke(t.Context(), ask{Thread: "t"}); !errors.Is(err, disk) {
		t.Fatal(err)
	}
	m.before = nil
	if s, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true}); err != nil || s.Items[0] != "v" || done != 2 {
		t.Errorf("%v, %v; done %d times", s, err, done)
	}
}

// TestOnceWithoutJSON checks that nothing is done whose result could not be kept.
func TestOnceWithoutJSON(t *testing.T) {
	done := 0
	p := build(t, "a", map[string]node{"a": func(ctx context.Context, _ list) (item, error) {
		_, err := graph.Once(ctx, "k", func(context.Context, string) (chan int, error) { done++; return make(chan int), nil })
		return item{}, err
	}}, "^ a, a $")
	_, err := p.Runner(graph.Options{Store: newMemStore()}).Invoke(t.Context(), ask{Thread: "t"})
	if _, ok := errors.AsType[*json.UnsupportedTypeError](err); !ok || done != 0 {
		t.Errorf("%v; done %d times", err, done)
	}
}

func TestOnceSideBySide(t *testing.T) {
	done := make(chan struct{}, 100)
	fan := func(key func(int) string) node {
		return graph.FanOut(0, func(list) []int { return make([]int, 20) },
			func(ctx context.Context, _ list, i int) (item, error) {
				return graph.Once(ctx, key(i), func(context.Context, string) (item, error) { done <- struct{}{}; return item{"x"}, nil })
			}, func(list, []item) (item, error) { return item{"a"}, nil })
	}
	p := build(t, "a", map[string]node{"a": fan(func(int) string { return "same key, another part" })}, "^ a, a $")
	if _, err := p.Runner(graph.Options{}).Invoke(t.Context(), ask{}); err != nil || len(done) != 20 {
		t.Errorf("%v; done %d times, want once a part", err, len(done))
	}
}

func TestBreakpoints(t *testing.T) {
	for _, tt := range []struct {
		name          string
		before, after []string
		want          []string
	}{
		{"before", []string{"b", "d"}, nil, []string{`stopped before ["b"]: ?a`, `stopped before ["d"]: ?abc`, "<nil>: ?abcd"}},
		{"after", nil, []string{"a", "c", "d"}, []string{`stopped after ["a"]: ?a`, `stopped after ["c"]: ?abc`, "<nil>: ?abcd"}},
		{"before the first", []string{"a"}, nil, []string{`stopped before ["a"]: ?`, "<nil>: ?abcd"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemStore()
			r := three(t, map[string]node{}).Runner(graph.Options{Store: m, BreakBefore: tt.before, BreakAfter: tt.after})
			var got []string
			for i := range len(tt.want) {
				s, err := r.Invoke(t.Context(), ask{Thread: "t", Input: item{"?"}, Resume: i > 0})
				got = append(got, fmt.Sprintf("%v: %s", err, strings.Join(s.Items, "")))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	_, err := three(t, map[string]node{}).Runner(graph.Options{BreakAfter: []string{"z"}}).Invoke(t.Context(), ask{})
	if err == nil || err.Error() != `breakpoint: unknown node "z"` {
		t.Errorf("error %v", err)
	}
}

func TestPause(t *testing.T) {
	m, pause := newMemStore(), make(chan struct{})
	r := three(t, map[string]node{"a": func(context.Context, list) (item, error) { close(pause); return item{"a"}, nil }}).
		Runner(graph.Options{Store: m})
	s, err := r.Invoke(t.Context(), ask{Thread: "t", Pause: pause})
	if !errors.Is(err, graph.ErrPaused) || !slices.Equal(s.Items, []string{"a"}) {
		t.Errorf("%v, %v", s, err)
	}
	if _, head, err := r.State(t.Context(), "t"); err != nil || head.Status != graph.Interrupted {
		t.Errorf("%s, %v; want interrupted", head.Status, err)
	}
	if s, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true}); err != nil || len(s.Items) != 4 {
		t.Errorf("%v, %v", s, err)
	}
}

// Whatever fits a schema decodes into its type.
func TestAnswersFit(t *testing.T) {
	type answer struct {
		When time.Time      `json:"when"`
		Pair [2]uint8       `json:"pair"`
		Tags map[string]int `json:"tags,omitempty"`
		Rate *float64       `json:"rate"`
	}
	const good = `{"when":"2026-11-21T08:30:15Z","pair":[1,2]}`
	for answered, want := range map[string]string{
		good: "",
		`{"when":"2026-11-21T08:30:15Z","pair":[1,2],"rate":null,"tags":{"a":-1}}`: "",
		`{"when":"today","pair":[1,2]}`:                                            `/properties/when: pattern: "today" does not match`,
		`{"when":"2026-11-21T08:30:15Z"}`:                                          `missing properties: ["pair"]`,
		`{"when":"2026-11-21T08:30:15Z","pair":[1]}`:                               `/properties/pair: minItems: array length 1 is less than 2`,
		`{"when":"2026-11-21T08:30:15Z","pair":[1,-2]}`:                            `/properties/pair/items: minimum: -2/1 is less than 0`,
		`{"when":"2026-11-21T08:30:15Z","pair":[1,2.5]}`:                           `/properties/pair/items: type: 2.5 has type "number", want "integer"`,
		`{"when":"2026-11-21T08:30:15Z","pair":[1,2],"tags":{"a":"b"}}`:            `/additionalProperties: type: b has type "string", want "integer"`,
		`{"when":"2026-11-21T08:30:15Z","pair":[1,2],"rate":true}`:                 `/properties/rate: type: true has type "boolean"`,
		`[]`: `answer: type: [] has type "array", want "object"`,
	} {
		r := build(t, "a", map[string]node{"a": func(ctx context.Context, _ list) (item, error) {
			_, err := graph.Ask[answer](ctx, "k", nil)
			return item{"a"}, err
		}}, "^ a, a $").Runner(graph.Options{Store: newMemStore()})
		if _, err := r.Invoke(t.Context(), ask{Thread: "t"}); len(ids(err)) != 1 {
			t.Fatal(err)
		}
		_, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true, Answers: map[string]any{"k": json.RawMessage(answered)}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %s", answered, err, want)
		}
	}
}
