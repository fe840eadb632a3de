package openai_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
)

// canned answers every request with the same stream, without a network.
type canned struct {
	body []byte
	gate <-chan struct{} // the end of a body comes once it is closed; nil: at once
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	var body io.Reader = bytes.NewReader(c.body)
	if c.gate != nil {
		body = io.MultiReader(bytes.NewReader(c.body[:len(c.body)/2]), &gated{c.gate, r.Context()}, bytes.NewReader(c.body[len(c.body)/2:]))
	}
	return &http.Response{
		StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(body),
	}, nil
}

// gated is an empty reader that ends once its gate is open.
type gated struct {
	gate <-chan struct{}
	ctx  context.Context //nolint:containedctx // of a request in a test
}

func (g *gated) Read([]byte) (int, error) {
	select {
	case <-g.gate:
	case <-g.ctx.Done():
	}
	return 0, io.EOF
}

// stream is an answer of n pieces.
func stream(n int) []byte {
	var b strings.Builder
	for range n {
		b.WriteString(`data: {"object":"chat.completion.chunk","model":"played","choices":[{"index":0,"delta":{"content":"word "}}]}` + "\n\n")
	}
	b.WriteString(`data: {"model":"played","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	return []byte(b.String())
}

// TestOverhead compares a call with one of the SDK alone.
func TestOverhead(t *testing.T) {
	for _, pieces := range []int{1, 50} {
		transport := canned{body: stream(pieces)}
		service := sdk.NewChatCompletionService(option.WithBaseURL("http://127.0.0.1/v1/"), option.WithMaxRetries(0), option.WithHTTPClient(&http.Client{Transport: transport}))
		bare := func() {
			s := service.NewStreaming(t.Context(), sdk.ChatCompletionNewParams{
				Model: "small", Messages: []sdk.ChatCompletionMessageParamUnion{sdk.UserMessage("What is a volume?")},
				Temperature: param.NewOpt(0.0), MaxTokens: param.NewOpt(int64(50)), StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
			})
			for s.Next() {
				_ = s.Current()
			}
			if s.Err() != nil || s.Close() != nil {
				t.Fatal(s.Err())
			}
		}
		c, err := openai.New(openai.Config{BaseURL: "http://127.0.0.1/v1", Transport: transport})
		if err != nil {
			t.Fatal(err)
		}
		chat := llm.Price(llm.Retry(c.Chat("small"), llm.RetryOptions{}), llm.PerMillion{Input: 1})
		ours := func() {
			if _, err := chat.Complete(t.Context(), llmtest.Question(), func(string) {}); err != nil {
				t.Fatal(err)
			}
		}
		own := testing.AllocsPerRun(100, ours) - testing.AllocsPerRun(100, bare)
		took := fastest(ours) - fastest(bare)
		t.Logf("%d pieces: %.0f allocations and %v beyond the SDK's", pieces, own, took)
		if own >= 100 {
			t.Errorf("%d pieces: %.0f allocations beyond the SDK's, want less than 100", pieces, own)
		}
	}
}

// fastest is the time of the fastest of some calls, which a busy machine disturbs least.
func fastest(call func()) time.Duration {
	best := time.Hour
	for range 50 {
		begun := time.Now()
		call()
		best = min(best, time.Since(begun))
	}
	return best
}

// TestManyStreams holds 1,000 streams open in one process.
func TestManyStreams(t *testing.T) {
	const n = 1000
	gate := make(chan struct{})
	c, err := openai.New(openai.Config{BaseURL: "http://127.0.0.1/v1", Transport: canned{stream(10), gate}})
	if err != nil {
		t.Fatal(err)
	}
	chat := llm.Retry(c.Chat("small"), llm.RetryOptions{})
	before := memory()
	var begun, done sync.WaitGroup
	begun.Add(n)
	for range n {
		done.Go(func() {
			first := true
			r, err := chat.Complete(t.Context(), llmtest.Question(), func(string) {
				if first {
					begun.Done()
				}
				first = false
			})
			if err != nil || len(r.Text) != 10*len("word ") {
				t.Errorf("got %q, %v", r.Text, err)
			}
		})
	}
	begun.Wait()
	used := memory() - before
	close(gate)
	done.Wait()
	t.Logf("%d streams: %s", n, fmt.Sprintf("%.1f MB", float64(used)/1e6))
	if used > 300e6 {
		t.Errorf("%d bytes for %d streams, want at most 300 MB", used, n)
	}
}

// memory is what the process holds of the system.
func memory() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse) //nolint:gosec // far below the greatest int64
}
