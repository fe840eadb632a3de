// Twousers serves two users from one assistant over plain HTTP. Each has a model, collections
// and a filter of their own, and sees only their own threads. A stream that was left is joined
// again with the position of its last event:
//
//	curl -d 'How long do I keep receipts?' 'localhost:8080/ask?user=anna'
//	curl 'localhost:8080/events?user=anna&run=RUN&after=POSITION'
package main

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"

	"example.com/ragflow"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
	"example.com/ragflow/state"
)

// users are what the questions of each user are answered with.
func users() map[string]ragflow.Question {
	var public state.Filter
	if err := public.Add("audience=everybody"); err != nil {
		panic(err) // the condition is a constant
	}
	return map[string]ragflow.Question{
		"anna": {Collections: []string{"handbook", "finance"}, Settings: &ragflow.Settings{Model: "large"}},
		"bert": {Collections: []string{"handbook"}, Filter: public, Settings: &ragflow.Settings{Model: "small"}},
	}
}

// handler serves a: POST /ask begins a run and answers with it, GET /events yields its events.
func handler(a *ragflow.Assistant) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /ask", func(w http.ResponseWriter, r *http.Request) {
		q, known := users()[r.FormValue("user")]
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
		if err != nil || !known {
			http.Error(w, "name a user, and send a question of at most 64 KiB", http.StatusBadRequest)
			return
		}
		q.Text = string(text)
		run, err := a.Runs().Start(ragflow.OwnedBy(r.Context(), r.FormValue("user")), q)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		_ = json.NewEncoder(w).Encode(run) // a reader that left can join again
	})
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		ctx, out := ragflow.OwnedBy(r.Context(), r.FormValue("user")), json.NewEncoder(w)
		for e, err := range a.Runs().Events(ctx, r.FormValue("run"), ragflow.Position(r.FormValue("after"))) {
			if err != nil {
				_ = out.Encode(map[string]string{"error": err.Error()})
				return
			}
			if out.Encode(e) != nil || http.NewResponseController(w).Flush() != nil {
				return // the reader left; the run continues
			}
		}
	})
	return mux
}

func main() {
	client, err := openai.New(openai.Config{BaseURL: "http://localhost:11434/v1"}) // Ollama
	if err != nil {
		log.Fatal(err)
	}
	models := map[string]llm.Chat{"large": client.Chat("qwen3:8b"), "small": client.Chat("qwen3:0.6b")}
	a, err := ragflow.Open(context.Background(), ragflow.Config{DataDir: ".ragflow", Models: ragflow.Models{Named: models}})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:8080", handler(a)))
}
