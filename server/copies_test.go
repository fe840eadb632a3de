package server_test

import (
	"strings"
	"testing"

	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server"
)

// TestCopies: a thread is exported and imported under another name, and forked at a run, each for its owner.
func TestCopies(t *testing.T) {
	t.Parallel()
	h := open(t, server.Options{Token: true}, nil)
	anna := h.token(t, tokens.Token{Name: "anna", Owner: "anna", Scopes: []tokens.Scope{tokens.Admin}})
	bert := h.token(t, tokens.Token{Name: "bert", Owner: "bert", Scopes: []tokens.Scope{tokens.Admin}})
	s, err := server.New(h.a, server.Options{Token: true, Tokens: string(h.folder)})
	if err != nil {
		t.Fatal(err)
	}
	h.Server = s
	first := h.want(t, 200, "POST", "/api/ask", anna, `{"question": "How many days of leave?", "thread_id": "t"}`)["run_id"].(string)
	h.want(t, 200, "POST", "/api/ask", anna, `{"question": "And of what?", "thread_id": "t"}`)
	turns := func(thread, secret string) int {
		t.Helper()
		return len(h.want(t, 200, "GET", "/api/threads/"+thread, secret, "")["messages"].([]any)) / 2
	}
	code, export := h.ask("GET", "/api/threads/t/export", anna, "")
	if code != 200 {
		t.Fatal(export)
	}
	if got := h.want(t, 201, "POST", "/api/threads?thread_id=u", anna, export); got["id"] != "u" || turns("u", anna) != 2 {
		t.Errorf("%v", got)
	}
	h.want(t, 409, "POST", "/api/threads?thread_id=u", anna, export)
	h.want(t, 422, "POST", "/api/threads?thread_id=v", anna, strings.Replace(export, "26 days", "27 days", 1))
	h.want(t, 422, "POST", "/api/threads?thread_id=v", anna, export[:len(export)/2])
	h.want(t, 404, "GET", "/api/threads/v", anna, "")
	if h.want(t, 201, "POST", "/api/threads?thread_id=b", bert, export); turns("b", bert) != 2 {
		t.Error("an import of another person")
	}
	h.want(t, 404, "GET", "/api/threads/b", anna, "")

	fork := h.want(t, 200, "POST", "/api/threads/t/fork", anna, `{"run_id": "`+first+`"}`)["id"].(string)
	if turns(fork, anna) != 1 || turns("t", anna) != 2 {
		t.Error("the fork has not one turn, or the thread not two")
	}
	h.want(t, 404, "GET", "/api/threads/"+fork, bert, "")
	h.want(t, 200, "POST", "/api/ask", anna, `{"question": "How long is the leave?", "thread_id": "`+fork+`"}`)
	if h.want(t, 200, "POST", "/api/threads/t/fork", anna, `{"thread_id": "w"}`); turns("w", anna) != 2 || turns(fork, anna) != 2 || turns("t", anna) != 2 {
		t.Error("the copies are not apart")
	}
	h.want(t, 409, "POST", "/api/threads/t/fork", anna, `{"thread_id": "w"}`)
	h.want(t, 200, "POST", "/api/feedback", anna, `{"run_id": "`+first+`", "good": true}`)
	mine := h.want(t, 200, "GET", "/api/feedback", anna, "")["feedback"].([]any)
	if len(mine) != 1 || mine[0].(map[string]any)["document"] != "" {
		t.Errorf("%v", mine)
	}
	if foreign := h.want(t, 200, "GET", "/api/feedback", bert, "")["feedback"].([]any); len(foreign) != 0 {
		t.Errorf("%v", foreign)
	}
}
