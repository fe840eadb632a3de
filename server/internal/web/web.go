package web

import (
	"net/http"

	"example.com/ragflow"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
)

// site serves the pages of an assistant.
type site struct {
	a       *ragflow.Assistant
	login   func(secret string) (session string) // "" for a wrong token
	secure  bool                                 // the server speaks TLS
	views   *views
	bells   bells
}

// Options of the pages.
type Options struct {
	Secure  bool                                 // the server speaks TLS
	LogIn   func(secret string) (session string) // begins a session with a token; "": there is no such token
}

// Routes are the pages of an assistant.
func Routes(a *ragflow.Assistant, o Options) []door.Route {
	s := &site{a: a, login: o.LogIn, secure: o.Secure, views: newViews()}
	page := func(pattern string, scope tokens.Scope, do http.HandlerFunc) door.Route {
		return door.Route{Pattern: pattern, Scope: scope, Do: do, Errors: s.refuse}
	}
	return []door.Route{
		page("GET /{$}", tokens.Ask, s.home),
		page("POST /ask", tokens.Ask, s.ask),
		page("GET /t/{thread}", tokens.Ask, s.thread),
		{Pattern: "GET /t/{thread}/live", Scope: tokens.Ask, Long: true, Do: s.live, Errors: s.refuse},
		page("POST /t/{thread}/ask", tokens.Ask, s.ask),
		page("POST /t/{thread}/edit/{run}", tokens.Ask, s.edit),
		page("POST /t/{thread}/cancel/{run}", tokens.Ask, s.cancel),
		page("POST /t/{thread}/resume", tokens.Ask, s.resume),
		page("GET /login", "", s.loginPage),
		page("POST /login", "", s.logIn),
		page("POST /preferences", "", s.prefer),
		{Pattern: "GET /static/{file}", Do: s.static},
	}
}
