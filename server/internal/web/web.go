package web

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"

	"example.com/ragflow"
	"example.com/ragflow/internal/lru"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
	"example.com/ragflow/server/internal/source"
)

// Options of the pages.
type Options struct {
	Machine func(ctx context.Context) [][3]string // models that can be had: provider, status, and what they are; may be nil
	Secure  bool                                  // the server speaks TLS
	LogIn   func(secret string) (session string)  // begins a session with a token; "": there is no such token
}

// site serves the pages of an assistant.
type site struct {
	Options

	a          *ragflow.Assistant
	views      *views
	bell       bell
	tabs       tabs
	typed      lru.Cache[string, url.Values] // what a person answered last, by run
	evaluation evaluation
	documents  door.Documents
	reader     *source.Reader
}

// Routes are the pages of an assistant.
func Routes(a *ragflow.Assistant, o Options) []door.Route {
	s := &site{Options: o, a: a, views: newViews(), documents: door.Documents{Assistant: a}}
	s.reader = source.New(s.documents)
	if dir := a.Config().DataDir; dir != "" {
		s.evaluation.folder = filepath.Join(dir, "evaluation")
	}
	page := func(pattern string, scope tokens.Scope, do func(*http.Request) (answer, error)) door.Route {
		return door.Route{Pattern: pattern, Scope: scope, Errors: s.refused, Do: func(w http.ResponseWriter, r *http.Request) {
			a, err := do(r)
			if err != nil {
				a = faultPage(r, newFault(err), statusOf(err))
			}
			s.write(w, r, a)
		}}
	}
	return []door.Route{
		page("GET /{$}", tokens.Ask, s.home),
		page("POST /ask", tokens.Ask, s.ask),
		page("GET /t/{thread}", tokens.Ask, s.thread),
		{Pattern: "GET /t/{thread}/live", Scope: tokens.Ask, Do: s.live, Errors: s.refused},
		page("POST /t/{thread}/ask", tokens.Ask, s.alive(s.ask)),
		page("POST /t/{thread}/edit/{run}", tokens.Ask, s.alive(s.edit)),
		page("POST /t/{thread}/cancel/{run}", tokens.Ask, s.cancel),
		page("POST /t/{thread}/resume", tokens.Ask, s.alive(s.resume)),
		page("GET /threads", tokens.Ask, s.threadList),
		page("POST /t/{thread}/rename", tokens.Ask, s.alive(s.rename)),
		page("POST /t/{thread}/delete", tokens.Ask, s.remove),
		page("POST /t/{thread}/restore", tokens.Ask, s.restore),
		page("POST /t/{thread}/fork", tokens.Ask, s.alive(s.fork)),
		page("GET /t/{thread}/export", tokens.Ask, s.export),
		page("GET /t/{thread}/run/{run}", tokens.Ask, s.traced),
		page("GET /t/{thread}/cite/{run}/{i}", tokens.Ask, s.cite(false)),
		page("GET /t/{thread}/other/{run}/{i}", tokens.Ask, s.cite(true)),
		page("GET /d/{id...}", tokens.Read, s.document),
		page("GET /evaluation", tokens.Admin, s.evaluated),
		page("POST /evaluation", tokens.Admin, s.evaluate),
		page("POST /t/{thread}/collect/{run}", tokens.Admin, s.collect),
		page("GET /usage", tokens.Admin, s.usage),
		page("GET /settings", tokens.Ask, s.settings),
		page("POST /settings", tokens.Ask, s.set),
		page("GET /models", tokens.Ask, s.models),
		page("POST /models", tokens.Admin, s.models),
		page("POST /t/{thread}/rate/{run}", tokens.Ask, s.rate),
		page("GET /page/{dpi}/{page}/{id...}", tokens.Read, s.picture),
		page("GET /documents", tokens.Read, s.shelfPage),
		page("GET /documents/file/{id...}", tokens.Read, s.preview),
		page("POST /documents/index", tokens.Upload, s.change(index)),
		page("POST /documents/stop/{job}", tokens.Upload, s.change(stop)),
		page("POST /documents/delete", tokens.Upload, s.change(deleteDocument)),
		page("POST /collections", tokens.Admin, s.makeCollection),
		page("POST /collections/delete", tokens.Admin, s.deleteCollection),
		page("GET /login", "", loginPage),
		page("POST /login", "", s.logIn),
		page("POST /preferences", "", s.prefer),
		{Pattern: "GET /static/{file}", Do: static},
	}
}
