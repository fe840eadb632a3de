package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/server/internal/door"
	"example.com/ragflow/threads"
)

// alive lets a form of a conversation pass unless the conversation was deleted: what it adds would be lost.
func (s *site) alive(do func(*http.Request) (answer, error)) func(*http.Request) (answer, error) {
	return func(r *http.Request) (answer, error) {
		info, err := s.a.Threads().Info(r.Context(), r.PathValue("thread"))
		switch {
		case err != nil:
			return answer{}, err
		case info.Metadata[deletedKey] != "":
			return answer{}, errDeleted
		}
		return do(r)
	}
}

// ask begins to answer a question, in the conversation of the address or in a new one.
func (s *site) ask(r *http.Request) (answer, error) {
	return s.begin(r, ragflow.Question{Text: questionOf(r), Thread: r.PathValue("thread"), Agent: r.FormValue("agent") != ""})
}

func questionOf(r *http.Request) string { return strings.TrimSpace(r.FormValue("question")) }

// begin starts a run and shows its conversation.
func (s *site) begin(r *http.Request, q ragflow.Question) (answer, error) {
	ctx := r.Context()
	var err error
	if q.Collections, err = door.Of(ctx).Choose(r.FormValue("collection")); err != nil {
		return answer{}, err
	}
	if !q.Resume {
		q.Settings = s.settingsOf(r)
		if len(q.Collections) == 0 {
			q.Collections = s.everything(ctx)
		}
	}
	run, err := s.a.Runs().Start(ctx, q)
	if err != nil {
		return answer{}, err
	}
	s.bell.ring()
	return answer{to: threadAt(run.Thread)}, nil
}

// offline names the choice of no model.
const offline = "offline"

// threadAt is the address of a conversation.
func threadAt(thread string) string { return "/t/" + url.PathEscape(thread) }

// editedKey is the metadatum of a conversation that began with the edit of another.
const editedKey = "edited_from"

// edit asks a changed question in a copy of the conversation before it, which stays as it was.
func (s *site) edit(r *http.Request) (answer, error) {
	run, err := s.run(r)
	if err != nil {
		return answer{}, err
	}
	q := ragflow.Question{Text: questionOf(r), Metadata: map[string]string{editedKey: run.Thread}}
	if before := run.Commits[len(run.Commits)-1].Parent; before != 0 {
		q.Thread = s.a.Config().NewID()
		if err := s.a.Graph().Fork(r.Context(), graph.Point{Thread: run.Thread, Commit: before}, q.Thread); err != nil {
			return answer{}, err
		}
	}
	return s.begin(r, q)
}

// cancel ends a run, which can be resumed.
func (s *site) cancel(r *http.Request) (answer, error) {
	run, err := s.run(r)
	if err != nil {
		return answer{}, err
	}
	err = s.a.Runs().Cancel(r.Context(), run.ID)
	if errors.Is(err, graph.ErrNotFound) { // it has ended meanwhile
		err = nil
	}
	return answer{to: threadAt(run.Thread)}, err
}

// run is the run that the address of a request names, of its conversation.
func (s *site) run(r *http.Request) (*threads.Run, error) {
	run, err := s.a.Threads().Run(r.Context(), r.PathValue("run"))
	if err == nil && (run.Thread != r.PathValue("thread") || len(run.Commits) == 0) {
		err = graph.ErrNotFound
	}
	return run, err
}

// answered is the run that the address of a request names, with its reply.
func (s *site) answered(r *http.Request) (*threads.Run, *ragflow.Reply, error) {
	run, err := s.run(r)
	if err != nil {
		return nil, nil, err
	}
	reply, err := s.a.Reply(r.Context(), run.ID)
	return run, reply, err
}

// resume continues the last run of a conversation, with the answers of a person if it asked. Answers that are refused
// come back in their form, with what is wrong.
func (s *site) resume(r *http.Request) (answer, error) {
	ctx := r.Context()
	t, err := s.a.Threads().Thread(ctx, r.PathValue("thread"))
	if err != nil {
		return answer{}, err
	}
	asks := questions(t)
	if len(asks) == 0 {
		return answer{}, graph.ErrNotFound
	}
	if err := r.ParseForm(); err != nil {
		return answer{}, &door.StatusError{Status: http.StatusUnprocessableEntity, Err: err}
	}
	x := s.turn(ctx, t, asks[len(asks)-1])
	q := ragflow.Question{Thread: t.ID, Resume: true}
	wrong := false
	for i := range x.Questions {
		f := &x.Questions[i]
		v, ok := f.answer(r.PostForm)
		if wrong = wrong || !ok; q.Answers == nil {
			q.Answers = map[string]any{}
		}
		q.Answers[f.ID] = v
	}
	if !wrong {
		s.typed.Put(x.Run, r.PostForm, 0, 100, 0) // for the newest runs
		a, err := s.begin(r, q)
		refused, ok := errors.AsType[*graph.AnswerError](err)
		if !ok {
			return a, err
		}
		for i := range x.Questions {
			if f := &x.Questions[i]; f.ID == refused.Key {
				f.Problem = refused.Problem
			}
		}
	}
	p := s.threadPage(r, t)
	p.Turns[len(p.Turns)-1].Questions = x.Questions
	return answer{status: http.StatusUnprocessableEntity, name: "thread", data: p}, nil
}

// loginPage asks for a token.
func loginPage(*http.Request) (answer, error) { return answer{name: "login", data: ""}, nil }

// logIn begins the session of a person who has a token.
func (s *site) logIn(r *http.Request) (answer, error) {
	id := s.LogIn(strings.TrimSpace(r.FormValue("token")))
	if id == "" {
		return answer{status: http.StatusUnauthorized, name: "login", data: "wrong"}, nil
	}
	return answer{to: "/", header: http.Header{"Set-Cookie": {s.cookie(door.CookieName, id, 0)}}}, nil
}
