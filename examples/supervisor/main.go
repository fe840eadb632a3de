// Command supervisor is an agent that hands questions over to two others.
//
//	SMART_LLM_MODEL=ollama:qwen3 go run ./examples/supervisor "What is 12 * 7?"
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"example.com/ragflow/agent"
	"example.com/ragflow/graph"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/providers"
)

type factors struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

func run(ctx context.Context, chat llm.Chat, question string) (agent.State, error) {
	multiply := agent.Func("multiply", "Multiplies two numbers.", func(_ context.Context, f factors) (float64, error) { return f.A * f.B, nil })
	clock := agent.Func("clock", "Tells the date and time.", func(context.Context, struct{}) (string, error) { return time.Now().Format(time.RFC1123), nil })
	plan, err := agent.Compile(
		agent.Agent{
			Name: "supervisor", Chat: chat, System: "You do no work yourself: hand each question over to the right agent.",
			HandOver: []string{"sums", "times"},
		},
		agent.Agent{Name: "sums", Description: "It calculates.", Chat: chat, Tools: []agent.Tool{multiply}, HandOver: []string{"supervisor"}},
		agent.Agent{Name: "times", Description: "It knows the time.", Chat: chat, Tools: []agent.Tool{clock}, HandOver: []string{"supervisor"}},
	)
	if err != nil {
		return agent.State{}, err
	}
	return plan.Runner(graph.Options{}).Invoke(ctx, graph.Request[agent.Update]{Input: agent.Say(question)})
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
	fmt.Printf("%s: %s\n", s.Agent, s.Reply())
}
