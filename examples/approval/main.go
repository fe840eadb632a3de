// Command approval is an agent whose payments a person approves.
//
//	SMART_LLM_MODEL=ollama:qwen3 go run ./examples/approval
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"example.com/ragflow/agent"
	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/providers"
)

type payment struct {
	To  string  `json:"to" jsonschema:"who gets the money"`
	EUR float64 `json:"eur"`
}

func run(ctx context.Context, chat llm.Chat, in io.Reader, out io.Writer) error {
	pay := agent.Func("pay", "Pays an amount to somebody.", func(ctx context.Context, p payment) (string, error) {
		return fmt.Sprintf("Paid %.2f EUR to %s, receipt %.8s.", p.EUR, p.To, agent.IdempotencyKey(ctx)), nil
	})
	pay.Approve = agent.Always
	plan, err := agent.Compile(agent.Agent{Chat: chat, System: "You pay bills.", Tools: []agent.Tool{pay}})
	if err != nil {
		return err
	}
	runner := plan.Runner(graph.Options{Store: memstore.New()})
	s, err := runner.Invoke(ctx, graph.Request[agent.Update]{Thread: "bills", Input: agent.Say("Pay 12 EUR to Ann.")})
	lines := bufio.NewScanner(in)
	for {
		waits, asks := errors.AsType[*graph.InterruptError](err)
		if !asks {
			break
		}
		answers := map[string]any{}
		for _, q := range waits.Questions {
			fmt.Fprintf(out, "%s (approve or reject) ", q.Ask)
			lines.Scan()
			answers[q.ID()] = agent.Decision{Verdict: strings.TrimSpace(lines.Text())}
		}
		s, err = runner.Invoke(ctx, graph.Request[agent.Update]{Thread: "bills", Resume: true, Answers: answers})
	}
	if err == nil {
		fmt.Fprintln(out, s.Reply())
	}
	return err
}

func main() {
	chat, err := providers.FromEnvironment(os.Getenv)
	if err == nil {
		err = run(context.Background(), chat, os.Stdin, os.Stdout)
	}
	if err != nil {
		log.Fatal(err)
	}
}
