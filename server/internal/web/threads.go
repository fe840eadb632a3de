package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/threads"
)

const (
	// deletedKey is the metadatum of a conversation that was deleted and can be brought back.
	deletedKey = "deleted"
	// undoTime is how long that is so.
	undoTime = 10 * time.Minute
	listed   = 40 // conversations on a page
)

type threadsPage struct {
	Text    string
	Threads []threads.Info
	Next    int64
	Deleted *threads.Info // just now
}

// list returns conversations that were not deleted.
func (s *site) list(ctx context.Context, q threads.Query) (threads.Page, error) {
	page, err := s.a.Threads().List(ctx, q)
	page.Threads = slices.DeleteFunc(page.Threads, func(i threads.Info) bool {
		at, err := time.Parse(time.RFC3339, i.Metadata[deletedKey])
		if err == nil && time.Since(at) > undoTime {
			_ = s.a.Threads().Delete(ctx, i.ID) // one that is in use is tried again
		}
		return err == nil
	})
	return page, err //nolint:wrapcheck // the caller shows it
}

// threadList is the page of all conversations.
func (s *site) threadList(r *http.Request) (answer, error) {
	q := r.URL.Query()
	p := threadsPage{Text: text.First(q.Get("q"), 200)}
	after, _ := strconv.ParseInt(q.Get("after"), 10, 64) // else the first page
	page, err := s.list(r.Context(), threads.Query{Text: p.Text, Limit: listed, After: max(0, after)})
	if err != nil {
		return answer{}, err
	}
	p.Threads, p.Next = page.Threads, page.Next
	if id := q.Get("deleted"); id != "" {
		if info, err := s.a.Threads().Info(r.Context(), id); err == nil && info.Metadata[deletedKey] != "" {
			p.Deleted = &info
		}
	}
	return answer{name: "threads", data: p}, nil
}

// rename gives a conversation another title.
func (s *site) rename(r *http.Request) (answer, error) {
	id := r.PathValue("thread")
	return answer{to: threadAt(id)}, s.a.Threads().Rename(r.Context(), id, r.FormValue("title"))
}

// remove deletes a conversation after a time in which it can be brought back.
func (s *site) remove(r *http.Request) (answer, error) {
	id, log := r.PathValue("thread"), s.a.Threads()
	if err := log.Describe(r.Context(), id, map[string]string{deletedKey: time.Now().UTC().Format(time.RFC3339)}); err != nil {
		return answer{}, err
	}
	ctx := context.WithoutCancel(r.Context())
	time.AfterFunc(undoTime+time.Second, func() {
		if info, err := log.Info(ctx, id); err == nil && info.Metadata[deletedKey] != "" {
			_ = log.Delete(ctx, id) // list tries again
		}
	})
	return answer{to: "/threads?deleted=" + url.QueryEscape(id)}, nil
}

// restore brings a deleted conversation back.
func (s *site) restore(r *http.Request) (answer, error) {
	id := r.PathValue("thread")
	return answer{to: threadAt(id)}, s.a.Threads().Describe(r.Context(), id, map[string]string{deletedKey: ""})
}

// fork copies a conversation, to go on in another way.
func (s *site) fork(r *http.Request) (answer, error) {
	copied := s.a.Config().NewID()
	return answer{to: threadAt(copied)}, s.a.Graph().Fork(r.Context(), graph.Point{Thread: r.PathValue("thread")}, copied)
}

var unsafeName = regexp.MustCompile(`[^\pL\pN]+`)

// export hands out a conversation as a file: Markdown to read, or JSON lines to import elsewhere.
func (s *site) export(r *http.Request) (answer, error) {
	ctx := r.Context()
	t, err := s.a.Threads().Thread(ctx, r.PathValue("thread"))
	if err != nil {
		return answer{}, err
	}
	var out bytes.Buffer
	kind, ending := "text/markdown; charset=utf-8", ".md"
	if r.URL.Query().Get("as") == "json" {
		kind, ending = "application/jsonl", ".jsonl"
		err = s.a.Threads().Export(ctx, t.ID, &out)
	} else {
		s.transcript(ctx, t, &out)
	}
	name := url.PathEscape(text.First(unsafeName.ReplaceAllString(t.Title, "-"), 60) + ending)
	return answer{body: out.Bytes(), header: http.Header{"Content-Type": {kind}, "Content-Disposition": {"attachment; filename*=UTF-8''" + name}}}, err
}

// transcript writes the answers of a conversation with their sources.
func (s *site) transcript(ctx context.Context, t *threads.Thread, out *bytes.Buffer) {
	for i, m := range questions(t) {
		if i > 0 {
			out.WriteString("\n---\n\n")
		}
		if m.Run == "" {
			fmt.Fprintf(out, "# %s\n", m.Content)
			continue
		}
		if reply, err := s.a.Reply(ctx, m.Run); err == nil {
			out.WriteString(reply.AnswerMD)
		} else {
			fmt.Fprintf(out, "# %s\n\n*%s*\n", m.Content, err)
		}
	}
}
