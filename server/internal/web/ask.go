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

// ask begins to answer a question, in the conversation of the address or in a new one.
func (s *site) ask(w http.ResponseWriter, r *http.Request) {
	q := ragflow.Question{Text: strings.TrimSpace(r.FormValue("question")), Thread: r.PathValue("thread"), Agent: r.FormValue("agent") != ""}
	s.begin(w, r, q)
}

// begin starts a run and shows its conversation. A page that has a stream of it stays as it is.
func (s *site) begin(w http.ResponseWriter, r *http.Request, q ragflow.Question) {
	ctx := r.Context()
	var err error
	if q.Collections, err = door.Of(ctx).Choose(r.FormValue("collection")); err != nil {
		s.fault(w, r, err)
		return
	}
	if !q.Resume {
		q.Settings = s.settingsOf(r)
		if len(q.Collections) == 0 {
			q.Collections = s.everything(ctx)
		}
	}
	run, err := s.a.Runs().Start(ctx, q)
	if err != nil {
		s.fault(w, r, err)
		return
	}
	s.bells.ring(run.Thread)
	if r.Header.Get("Hx-Request") != "" && q.Thread == run.Thread {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	open(w, r, run.Thread)
}

// offline names the choice of no model.
const offline = "offline"

// open sends a person to a conversation.
func open(w http.ResponseWriter, r *http.Request, thread string) {
	to := "/t/" + url.PathEscape(thread)
	if r.Header.Get("Hx-Request") != "" {
		w.Header().Set("Hx-Redirect", to)
		w.WriteHeader(http.StatusOK)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// editedKey is the metadatum of a conversation that began with the edit of another.
const editedKey = "edited_from"

// edit asks a changed question in a copy of the conversation before it, which stays as it was.
func (s *site) edit(w http.ResponseWriter, r *http.Request) {
	ctx, thread := r.Context(), r.PathValue("thread")
	run, err := s.run(r)
	if err != nil {
		s.fault(w, r, err)
		return
	}
	q := ragflow.Question{Text: strings.TrimSpace(r.FormValue("question")), Metadata: map[string]string{editedKey: thread}}
	before := run.Commits[len(run.Commits)-1].Parent
	if before != 0 {
		q.Thread = s.a.Config().NewID()
		if err := s.a.Graph().Fork(ctx, graph.Point{Thread: thread, Commit: before}, q.Thread); err != nil {
			s.fault(w, r, err)
			return
		}
	}
	s.begin(w, r, q)
}

// cancel ends a run, which can be resumed.
func (s *site) cancel(w http.ResponseWriter, r *http.Request) {
	run, err := s.run(r)
	if err != nil {
		s.fault(w, r, err)
		return
	}
	err = s.a.Runs().Cancel(r.Context(), run.ID)
	if err != nil && !errors.Is(err, graph.ErrNotFound) { // it may have ended meanwhile
		s.fault(w, r, err)
		return
	}
	stay(w, r)
}

// run is the run that the address of a request names, of its conversation.
func (s *site) run(r *http.Request) (*threads.Run, error) {
	run, err := s.a.Threads().Run(r.Context(), r.PathValue("run"))
	if err == nil && (run.Thread != r.PathValue("thread") || len(run.Commits) == 0) {
		err = graph.ErrNotFound
	}
	return run, err //nolint:wrapcheck // the page of the error says it
}

// answered is the run that the address of a request names, with its reply.
func (s *site) answered(r *http.Request) (*threads.Run, *ragflow.Reply, error) {
	run, err := s.run(r)
	if err != nil {
		return nil, nil, err
	}
	reply, err := s.a.Reply(r.Context(), run.ID)
	return run, reply, err //nolint:wrapcheck // the page of the error says it
}

// stay answers a form of a conversation whose stream shows what came of it.
func stay(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Hx-Request") != "" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	open(w, r, r.PathValue("thread"))
}

// resume continues the last run of a conversation, with the answers of a person if it asked.
func (s *site) resume(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	q := ragflow.Question{Thread: r.PathValue("thread"), Resume: true}
	t, err := s.a.Threads().Thread(ctx, q.Thread)
	if err != nil {
		s.fault(w, r, err)
		return
	}
	asks := questions(t)
	if len(asks) == 0 {
		s.fault(w, r, graph.ErrNotFound)
		return
	}
	if err := r.ParseForm(); err != nil {
		s.failed(w, r, http.StatusUnprocessableEntity, err.Error())
		return
	}
	x := s.turn(ctx, t, asks[len(asks)-1])
	for _, f := range x.Questions {
		v, err := f.answer(r.PostForm)
		if err != nil {
			s.failed(w, r, http.StatusUnprocessableEntity, err.Error())
			return
		}
		if q.Answers == nil {
			q.Answers = map[string]any{}
		}
		q.Answers[f.ID] = v
	}
	s.begin(w, r, q)
}

// fault is the page of an error of a request.
func (s *site) fault(w http.ResponseWriter, r *http.Request, err error) {
	status, message := door.Status(err), err.Error()
	switch {
	case status == http.StatusNotFound:
		message = ""
	case errors.Is(err, ragflow.ErrEmptyQuery):
		status = http.StatusUnprocessableEntity
	}
	s.failed(w, r, status, message)
}

type failedPage struct {
	Status  int
	Message string
}

// failed shows an error: as a page, or as a notice for a page that is open. Somebody who is not logged in gets the page
// to do so.
func (s *site) failed(w http.ResponseWriter, r *http.Request, status int, message string) {
	quiet := r.Header.Get("Hx-Request") != ""
	if status == http.StatusUnauthorized && !quiet {
		s.show(w, r, status, "login", "")
		return
	}
	name := "failed"
	if quiet {
		name = "failed#notice"
		w.Header().Set("Hx-Retarget", "#notice")
		w.Header().Set("Hx-Reswap", "innerHTML")
	}
	s.show(w, r, status, name, failedPage{status, message})
}

// loginPage asks for a token.
func (s *site) loginPage(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusOK, "login", "")
}

// logIn begins the session of a person who has a token.
func (s *site) logIn(w http.ResponseWriter, r *http.Request) {
	id := s.login(strings.TrimSpace(r.FormValue("token")))
	if id == "" {
		s.show(w, r, http.StatusUnauthorized, "login", "wrong")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: door.CookieName, Value: id, Path: "/", HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
