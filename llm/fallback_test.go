package llm_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/llm"
)

// named is a chat that says its name, or fails.
type named struct {
	name string
	err  error // after it streamed a piece if it is Streamed
}

func (n named) Model() string { return n.name }

func (n named) Complete(_ context.Context, _ llm.Request, token func(string)) (llm.Response, error) {
	if e, ok := errors.AsType[*llm.Error](n.err); n.err != nil && (!ok || !e.Streamed) {
		return llm.Response{}, n.err
	}
	if token != nil {
		token(n.name)
	}
	return llm.Response{Text: n.name, Usage: llm.Usage{Input: 3, Output: 2}, Retries: 1, Chunks: 1, Priced: true, CostUSD: 1e-6}, n.err
}

var (
	down    = &llm.Error{Provider: "played", Kind: llm.ErrUnavailable, Retries: 2}
	skipped = &llm.Error{Provider: "played", Kind: llm.ErrUnavailable, Skipped: true}
	cut     = &llm.Error{Provider: "played", Kind: llm.ErrBadResponse, Streamed: true}
	errOdd  = errors.New("no error of a model")
)

func TestFallback(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		chats []llm.Chat
		asked func(llm.Fall) bool
		by    string // empty: the call fails
		falls string
	}{
		{"the first answers", []llm.Chat{named{"a", nil}, named{"b", nil}}, nil, "a", ""},
		{"the third answers", []llm.Chat{named{"a", down}, named{"b", skipped}, named{"c", nil}}, nil, "c", "a→b b→c "},
		{"all fail", []llm.Chat{named{"a", down}, named{"b", down}}, nil, "", "a→b "},
		{"not the model's fault", []llm.Chat{named{"a", errOdd}, named{"b", nil}}, nil, "", ""},
		{"a piece was streamed", []llm.Chat{named{"a", cut}, named{"b", nil}}, nil, "", ""},
		{"the piece is void", []llm.Chat{named{"a", cut}, named{"b", nil}}, func(llm.Fall) bool { return true }, "b", "a→b "},
		{"not allowed", []llm.Chat{named{"a", down}, named{"b", nil}}, func(llm.Fall) bool { return false }, "", "a→b "},
		{"one inside another", []llm.Chat{llm.Fallback(named{"a", down}, named{"b", down}), named{"c", nil}}, nil, "c", "a→b b→c "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			falls := ""
			r := llm.Request{}
			if tt.falls != "" {
				r.Fall = func(f llm.Fall) bool {
					falls += f.Model + "→" + f.Next + " "
					return tt.asked == nil || tt.asked(f)
				}
			}
			chat := llm.Fallback(tt.chats[0], tt.chats[1:]...)
			out, err := chat.Complete(t.Context(), r, func(string) {})
			if (err == nil) != (tt.by != "") || err == nil && (out.By != tt.by || out.Text != tt.by) || falls != tt.falls || chat.Model() != "a" {
				t.Errorf("%q by %q of %s, %v, falls %q", out.Text, out.By, chat.Model(), err, falls)
			}
		})
	}
}

// A caller who left is not answered by another model.
func TestFallbackAfterTheEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := llm.Fallback(named{"a", down}, named{"b", nil}).Complete(ctx, llm.Request{}, nil); !errors.Is(err, down) {
		t.Errorf("got %v", err)
	}
}

func TestObserve(t *testing.T) {
	t.Parallel()
	var got []string
	chat := llm.Observe(llm.Fallback(named{"a", down}, named{"b", skipped}, named{"c", errOdd}, named{"d", nil}), func(_ context.Context, c llm.Call) {
		got = append(got, fmt.Sprint(c.Model, c.Counts, c.Err != nil, c.Duration >= 0))
	})
	_, err := chat.Complete(t.Context(), llm.Request{}, nil)
	if !errors.Is(err, errOdd) {
		t.Fatal(err)
	}
	if _, err := llm.Observe(named{"d", nil}, func(_ context.Context, c llm.Call) { got = append(got, fmt.Sprint(c.Counts)) }).Complete(t.Context(), llm.Request{}, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"amap[retries:2] true true", "cmap[] true true",
		"map[chunks:1 cost_nanousd:1000 first_token_ms:0 input_tokens:3 output_tokens:2 retries:1]",
	}, got); diff != "" {
		t.Error(diff)
	}
}

// vectors is an embedder and a reranker.
type vectors struct{ err error }

func (vectors) Model() string { return "v" }

func (v vectors) Embed(context.Context, []string, llm.Purpose) (llm.Embeddings, error) {
	return llm.Embeddings{Usage: llm.Usage{Input: 5}, Priced: true, CostUSD: 2e-9}, v.err
}

func (v vectors) Rerank(context.Context, string, []string) (llm.Scores, error) {
	return llm.Scores{Usage: llm.Usage{Input: 7}, Retries: 1}, v.err
}

func TestObserveOthers(t *testing.T) {
	t.Parallel()
	var got []string
	note := func(_ context.Context, c llm.Call) { got = append(got, fmt.Sprint(c.Counts)) }
	for _, p := range []llm.Purpose{llm.Passage, llm.Query} {
		if _, err := llm.ObserveEmbedder(vectors{}, note).Embed(t.Context(), []string{"x"}, p); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{nil, down} {
		if _, got := llm.ObserveReranker(vectors{err}, note).Rerank(t.Context(), "x", []string{"y"}); !errors.Is(got, err) {
			t.Fatal(got)
		}
	}
	if diff := cmp.Diff([]string{"map[cost_nanousd:2 input_tokens:5 retries:0]", "map[input_tokens:7 retries:1]", "map[retries:2]"}, got); diff != "" {
		t.Error(diff)
	}
}

// sent is a chat that keeps the request.
type sent struct {
	named
	request *llm.Request
}

func (s sent) Complete(ctx context.Context, r llm.Request, token func(string)) (llm.Response, error) {
	*s.request = r
	return s.named.Complete(ctx, r, token)
}

func TestTask(t *testing.T) {
	t.Parallel()
	var got llm.Request
	chat := sent{named{"a", nil}, &got}
	for _, tt := range []struct {
		task        llm.Task
		temperature float64
		tokens      int
	}{
		{llm.Task{Chat: chat}, 0.5, 100},
		{llm.Task{Chat: chat, Temperature: new(float64), Tokens: 7}, 0, 7},
	} {
		if _, err := tt.task.Complete(t.Context(), llm.Request{Temperature: 0.5, MaxTokens: 100}, nil); err != nil || got.Temperature != tt.temperature || got.MaxTokens != tt.tokens {
			t.Errorf("%+v sent %+v, %v", tt.task, got, err)
		}
	}
}
