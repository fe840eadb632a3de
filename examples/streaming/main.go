// Command streaming serves conversations over HTTP. The answer comes as server-sent events, word by
// word; each thread keeps its history.
//
//	SMART_LLM_MODEL=ollama:qwen3 go run ./examples/streaming
//	curl -N -d 'Who are you?' localhost:8080/threads/mine
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"example.com/ragflow/agent"
	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/providers"
)

// handler answers a question, the body of a request, in the thread that its path names.
func handler(chat llm.Chat) (http.Handler, error) {
	plan, err := agent.Compile(agent.Agent{Chat: chat})
	if err != nil {
		return nil, err
	}
	runner := plan.Runner(graph.Options{Store: memstore.New()})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /threads/{thread}", func(w http.ResponseWriter, r *http.Request) {
		question, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
		if err != nil || len(question) == 0 {
			http.Error(w, "send a question of at most 64 KiB", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w)
		send := func(event string, v any) {
			data, _ := json.Marshal(v) // strings
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data)
			_ = flush.Flush() // a client that left ends r.Context
		}
		// A second question waits a while for the first one of its thread.
		request := graph.Request[agent.Update]{Thread: r.PathValue("thread"), Input: agent.Say(string(question)), Wait: time.Minute}
		for e, err := range runner.Stream(r.Context(), request) {
			switch {
			case errors.Is(err, graph.ErrBusy):
				send("error", "another question of this thread is being answered")
			case err != nil:
				log.Print(err)
				send("error", "the answer failed")
			case e.Kind == graph.Token:
				send("token", e.Value)
			case e.Kind == graph.TaskRetried:
				send("again", "")
			case e.Kind == graph.RunEnded:
				send("end", e.Status)
			}
		}
	})
	return mux, nil
}

func main() {
	chat, err := providers.FromEnvironment(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	h, err := handler(chat)
	if err != nil {
		log.Fatal(err)
	}
	server := http.Server{Addr: "localhost:8080", Handler: h, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}
