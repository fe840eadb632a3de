package api

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
	"example.com/ragflow/threads"
)

type threadRequest struct {
	ID string `json:"-" path:"id"`
}

type threadsRequest struct {
	Text  string `json:"-" query:"text"`  // in a title or a message
	After int64  `json:"-" query:"after"` // "next" of the page before
	Limit int    `json:"-" query:"limit"`
}

type renameRequest struct {
	ID    string `json:"-" path:"id"`
	Title string `json:"title"`
}

type forkRequest struct {
	ID     string `json:"-" path:"id"`
	Run    string `json:"run_id,omitempty"`    // the last one of the new thread; empty: the last one that has ended
	Thread string `json:"thread_id,omitempty"` // its name; empty: one is made
}

type importRequest struct {
	Thread string `json:"-" query:"thread_id"` // its name; empty: that of the export
}

// maxImport is the size of the largest thread that is imported. It is in memory meanwhile.
const maxImport = 64 << 20

func (s *service) conversations() []endpoint {
	add := answered[importRequest, threads.Info]("POST /api/threads", tokens.Admin,
		"Import a thread that was exported; what it says was cited is believed, so this is for administrators", "", s.add)
	add.body, add.MaxBody = "application/jsonl", maxImport
	return []endpoint{
		call("GET /api/threads", tokens.Ask, "A page of threads, the last used first", s.threads),
		call("GET /api/threads/{id}", tokens.Ask, "A thread with all its messages", s.thread), long(add),
		answered[threadRequest, none]("GET /api/threads/{id}/export", tokens.Ask, "A thread as JSON lines, to be imported again", "application/jsonl", s.export),
		call("PATCH /api/threads/{id}", tokens.Ask, "Give a thread another title", s.rename),
		call("DELETE /api/threads/{id}", tokens.Ask, "Delete a thread for good", s.deleteThread),
		call("POST /api/threads/{id}/undo", tokens.Ask, "Undo the last turn", s.undo),
		call("POST /api/threads/{id}/fork", tokens.Ask, "Make a new thread with the turns of this one, to the end of a run", s.fork),
	}
}

func (s *service) threads(ctx context.Context, r *threadsRequest) (threads.Page, error) {
	page, err := s.a.Threads().List(ctx, threads.Query{Text: r.Text, After: r.After, Limit: r.Limit})
	page.Threads = append([]threads.Info{}, page.Threads...)
	return page, err
}

func (s *service) thread(ctx context.Context, r *threadRequest) (*threads.Thread, error) {
	return s.a.Threads().Thread(ctx, r.ID)
}

func (s *service) export(w http.ResponseWriter, r *http.Request) (any, error) {
	var b bytes.Buffer
	if err := s.a.Threads().Export(r.Context(), r.PathValue("id"), &b); err != nil {
		return nil, err
	}
	w.Header().Set("Content-Type", "application/jsonl")
	_, _ = w.Write(b.Bytes()) // a reader that has left needs nothing
	return door.Sent{}, nil
}

func (s *service) rename(ctx context.Context, r *renameRequest) (threads.Info, error) {
	if err := s.a.Threads().Rename(ctx, r.ID, r.Title); err != nil {
		return threads.Info{}, err
	}
	return s.a.Threads().Info(ctx, r.ID)
}

func (s *service) deleteThread(ctx context.Context, r *threadRequest) (none, error) {
	return none{}, s.a.Threads().Delete(ctx, r.ID)
}

func (s *service) undo(ctx context.Context, r *threadRequest) (none, error) {
	return none{}, s.a.Threads().Undo(ctx, r.ID)
}

// add imports a thread.
func (s *service) add(w http.ResponseWriter, r *http.Request) (any, error) {
	info, err := s.a.Threads().Import(r.Context(), door.Upload(w, r), r.URL.Query().Get("thread_id"))
	if err != nil {
		return nil, err
	}
	door.WriteJSON(w, http.StatusCreated, info)
	return door.Sent{}, nil
}

func (s *service) fork(ctx context.Context, r *forkRequest) (threads.Info, error) {
	runs, err := s.a.Graph().Runs(ctx, graph.RunQuery{Thread: r.ID})
	if err != nil {
		return threads.Info{}, err
	}
	at := slices.IndexFunc(runs, func(x graph.RunInfo) bool {
		return x.Run == r.Run || r.Run == "" && x.Status != graph.Running
	})
	if at < 0 {
		return threads.Info{}, graph.ErrNotFound
	}
	if runs[at].Status == graph.Running {
		return threads.Info{}, fmt.Errorf("run %q has not ended: %w", r.Run, graph.ErrBusy)
	}
	to := cmp.Or(r.Thread, s.a.Config().NewID())
	if err := s.a.Graph().Fork(ctx, graph.Point{Thread: r.ID, Commit: runs[at].Last}, to); err != nil {
		return threads.Info{}, err
	}
	return s.a.Threads().Info(ctx, to)
}
