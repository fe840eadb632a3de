// Command evaluation lets one model write and another one judge, until the judge is content or three
// drafts were written.
//
//	SMART_LLM_MODEL=ollama:qwen3 go run ./examples/evaluation "why the sky is blue"
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/providers"
)

const drafts = 3

// Text is the state. Every node returns the whole of it.
type Text struct {
	About    string `json:"about"`
	Draft    string `json:"draft,omitempty"`
	Drafts   int    `json:"drafts,omitempty"`
	Good     bool   `json:"good,omitempty"`
	Critique string `json:"critique,omitempty"`
}

func run(ctx context.Context, chat llm.Chat, about string) (Text, error) {
	ask := func(ctx context.Context, system, user string) (string, error) {
		messages := []llm.Message{{Role: llm.System, Content: system}, {Role: llm.User, Content: user}}
		r, err := chat.Complete(ctx, llm.Request{Messages: messages}, func(piece string) { graph.EmitToken(ctx, piece) })
		return r.Text, err
	}
	write := func(ctx context.Context, s Text) (_ Text, err error) {
		user := "Explain " + s.About + " in two sentences."
		if s.Critique != "" {
			user += "\nYour last draft:\n" + s.Draft + "\nWhat was wrong with it:\n" + s.Critique
		}
		s.Draft, err = ask(ctx, "You explain things to children.", user)
		s.Drafts++
		return s, err
	}
	judge := func(ctx context.Context, s Text) (_ Text, err error) {
		s.Critique, err = ask(ctx, "You are an editor. Answer GOOD, or say what must change.", s.Draft)
		s.Good = strings.HasPrefix(strings.TrimSpace(s.Critique), "GOOD")
		return s, err
	}
	plan, err := graph.Compile(graph.Graph[Text, Text]{
		Name: "evaluation", Apply: func(_, u Text) (Text, error) { return u, nil },
		Nodes: map[string]graph.Task[Text, Text]{"write": {Run: write}, "judge": {Run: judge}},
		Edges: graph.Chain(graph.Start, "write", "judge"),
		Branches: []graph.Branch[Text]{{From: "judge", To: []string{"write", graph.End}, Route: func(s Text) string {
			if s.Good || s.Drafts == drafts {
				return graph.End
			}
			return "write"
		}}},
	})
	if err != nil {
		return Text{}, err
	}
	return plan.Runner(graph.Options{}).Invoke(ctx, graph.Request[Text]{Input: Text{About: about}})
}

func main() {
	chat, err := providers.FromEnvironment(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	s, err := run(context.Background(), chat, strings.Join(os.Args[1:], " "))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("draft %d, good: %v\n%s\n", s.Drafts, s.Good, s.Draft)
}
