package api

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"example.com/ragflow"
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

type ratingRequest struct {
	Thread   string `json:"thread_id"`
	Turn     int    `json:"turn,omitempty"` // from 1; 0: the last one
	Good     bool   `json:"good"`
	Note     string `json:"note,omitempty"`
	Question string `json:"question,omitempty"` // title of a promoted answer
}

func (s *service) conversations() []endpoint {
	export := endpoint{
		summary: "A thread as JSON lines, for \"ragflow threads import\"", media: "application/jsonl", in: reflectType[threadRequest](),
		Route: door.Route{Pattern: "GET /api/threads/{id}/export", Scope: tokens.Ask, Do: s.export},
	}
	return []endpoint{
		call("GET /api/threads", tokens.Ask, "A page of threads, the last used first", s.threads),
		call("GET /api/threads/{id}", tokens.Ask, "A thread with all its messages", s.thread), export,
		call("PATCH /api/threads/{id}", tokens.Ask, "Give a thread another title", s.rename),
		call("DELETE /api/threads/{id}", tokens.Ask, "Delete a thread for good", s.deleteThread),
		call("POST /api/threads/{id}/undo", tokens.Ask, "Undo the last turn", s.undo),
		call("POST /api/feedback", tokens.Ask, "Rate an answer; a good one is found by later questions", s.rate),
	}
}

func (s *service) threads(ctx context.Context, r *threadsRequest) (threads.Page, error) {
	if r.Limit < 0 {
		return threads.Page{}, fmt.Errorf("%w: limit is below 0", errMeaning)
	}
	page, err := s.a.Threads().List(ctx, threads.Query{Text: r.Text, After: r.After, Limit: r.Limit})
	page.Threads = append([]threads.Info{}, page.Threads...)
	return page, err
}

func (s *service) thread(ctx context.Context, r *threadRequest) (*threads.Thread, error) {
	return s.a.Threads().Thread(ctx, r.ID)
}

func (s *service) export(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	if err := s.a.Threads().Export(r.Context(), r.PathValue("id"), &b); err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	_, _ = w.Write(b.Bytes()) // a reader that has left needs nothing
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

func (s *service) rate(ctx context.Context, r *ratingRequest) (*ragflow.Feedback, error) {
	return s.a.Rate(ctx, ragflow.Rating{Thread: r.Thread, Turn: r.Turn, Good: r.Good, Note: r.Note, Question: r.Question})
}
