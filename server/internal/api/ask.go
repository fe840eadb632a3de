package api

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/search"
	"example.com/ragflow/server/internal/door"
	"example.com/ragflow/state"
)

// conditions select documents, as the flags of the command line do.
type conditions struct {
	Collections []string `json:"collections,omitempty"` // empty: the default one
	Filter      []string `json:"filter,omitempty"`      // conditions that must hold, such as "category=guide"
	Paths       []string `json:"paths,omitempty"`       // globs of paths, one of which must fit
}

// choose returns the collections that the caller may use, and the filter.
func (c conditions) choose(ctx context.Context) (collections []string, f state.Filter, err error) {
	for _, text := range c.Filter {
		if err := f.Add(text); err != nil {
			return nil, f, senseless("%w", err)
		}
	}
	if len(c.Paths) > 0 {
		f.AddPaths(c.Paths...)
	}
	collections, err = door.Of(ctx).Choose(c.Collections...)
	return collections, f, err
}

type askRequest struct {
	conditions

	Question string            `json:"question,omitempty"`
	Thread   string            `json:"thread_id,omitempty"` // empty: a new one
	Model    string            `json:"model,omitempty"`     // by its name; empty: as configured
	Agent    bool              `json:"agent,omitempty"`     // let the model search as often as it likes
	Metadata map[string]string `json:"metadata,omitempty"`
	Resume   bool              `json:"resume,omitempty"`  // go on with the unfinished run of the thread
	Answers  map[string]any    `json:"answers,omitempty"` // to what that run asks
	From     int64             `json:"from,omitempty"`    // commit of the thread to go on from; the turns after it are undone
	Start    bool              `json:"start,omitempty"`   // reply at once with the run, which continues
}

func (r *askRequest) question(ctx context.Context, a *ragflow.Assistant) (q ragflow.Question, err error) {
	q = ragflow.Question{
		Text: r.Question, Thread: r.Thread, Metadata: r.Metadata, Agent: r.Agent, Resume: r.Resume, Answers: r.Answers, From: graph.CommitID(r.From),
		Fresh: door.Of(ctx).Fresh,
	}
	if q.Collections, q.Filter, err = r.choose(ctx); err == nil && r.Model != "" {
		s := a.Config().Settings
		s.Model, q.Settings = r.Model, &s
	}
	return q, err
}

type searchRequest struct {
	conditions

	Query    string  `json:"query"`
	Limit    int     `json:"limit,omitempty"` // 0: as configured; at most 100
	Leg      string  `json:"leg,omitempty"`
	MinScore float64 `json:"min_score,omitempty"`
}

type runRequest struct {
	ID string `json:"-" path:"id"`
}

type runsReply struct {
	Runs []ragflow.RunInfo `json:"runs"`
}

func (s *service) questions() []endpoint {
	return []endpoint{
		call("POST /api/search", tokens.Read, "Passages that fit a query best", s.search),
		long(answered[askRequest, ragflow.Reply]("POST /api/ask", tokens.Ask,
			"Answer a question: as one reply or, for Accept: text/event-stream, as events; a client that leaves cancels it, unless it said \"start\"", "", s.ask)),
		call("GET /api/runs", tokens.Ask, "Runs under way", s.runs),
		call("GET /api/runs/{id}", tokens.Ask, "The reply of a run that has ended", s.reply),
		long(answered[runRequest, none]("GET /api/runs/{id}/events", tokens.Ask,
			"The events of a run, after ?after= or Last-Event-ID; the run continues when its reader leaves", "text/event-stream", s.events)),
		answered[traceRequest, none]("GET /api/runs/{id}/{file}", tokens.Ask, "answer.md or flow_trace.md of a run", "text/markdown; charset=utf-8", s.trace),
		call("POST /api/runs/{id}/cancel", tokens.Ask, "End a run; it can be resumed", s.cancel),
	}
}

func (s *service) search(ctx context.Context, r *searchRequest) (*ragflow.SearchReply, error) {
	if r.Limit < 0 || r.Limit > 100 {
		return nil, senseless("limit is within 0 and 100")
	}
	collections, filter, err := r.choose(ctx)
	if err != nil {
		return nil, err
	}
	return s.a.Search(ctx, r.Query, ragflow.SearchOptions{
		Collections: collections, Fresh: door.Of(ctx).Fresh, Request: search.Request{K: r.Limit, Leg: r.Leg, MinScore: r.MinScore, Filter: filter},
	})
}

func (s *service) ask(w http.ResponseWriter, r *http.Request) (any, error) {
	in, err := read[askRequest](r)
	if err != nil {
		return nil, err
	}
	q, err := in.question(r.Context(), s.a)
	if err != nil {
		return nil, err
	}
	switch {
	case in.Start:
		run, err := s.a.Runs().Start(r.Context(), q)
		if err != nil {
			return nil, err
		}
		door.WriteJSON(w, http.StatusAccepted, run)
	case strings.Contains(r.Header.Get("Accept"), "text/event-stream"):
		ctx, out := door.OpenStream(w, r)
		defer out.Close()
		tell(out, s.a.Stream(ctx, q))
	default:
		return s.a.Ask(r.Context(), q)
	}
	return door.Sent{}, nil
}

// tell writes the events of a run to a stream.
func tell(out *door.Stream, events iter.Seq2[ragflow.Event, error]) {
	for e, err := range events {
		m := door.Message{Event: string(e.Kind), ID: string(e.Position)}
		if err == nil {
			m.Data, err = json.Marshal(e)
		}
		if err != nil {
			m = door.Message{Event: "error"}
			m.Data, _ = json.Marshal(map[string]string{"error": err.Error()}) // never fails
		}
		if out.Send(m) != nil || err != nil {
			return
		}
	}
}

func (s *service) events(w http.ResponseWriter, r *http.Request) (any, error) {
	after := cmp.Or(r.Header.Get("Last-Event-Id"), r.URL.Query().Get("after"))
	if _, err := s.a.Threads().Run(r.Context(), r.PathValue("id")); err != nil {
		return nil, err
	}
	ctx, out := door.OpenStream(w, r)
	defer out.Close()
	tell(out, s.a.Runs().Events(ctx, r.PathValue("id"), ragflow.Position(after)))
	return door.Sent{}, nil
}

func (s *service) runs(ctx context.Context, _ *none) (runsReply, error) {
	return runsReply{append([]ragflow.RunInfo{}, s.a.Runs().List(ctx)...)}, nil
}

func (s *service) reply(ctx context.Context, r *runRequest) (*ragflow.Reply, error) {
	return s.a.Reply(ctx, r.ID)
}

func (s *service) cancel(ctx context.Context, r *runRequest) (none, error) {
	return none{}, s.a.Runs().Cancel(ctx, r.ID)
}

type traceRequest struct {
	ID   string `json:"-" path:"id"`
	File string `json:"-" path:"file"`
}

func (s *service) trace(w http.ResponseWriter, r *http.Request) (any, error) {
	reply, err := s.a.Reply(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	files := map[string]string{"answer.md": reply.AnswerMD, "flow_trace.md": reply.FlowTraceMD}
	text, known := files[r.PathValue("file")]
	if !known {
		return nil, graph.ErrNotFound
	}
	w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
	_, _ = w.Write([]byte(text)) // a reader that has left needs nothing
	return door.Sent{}, nil
}
