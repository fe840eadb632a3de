// Command agent lets our agent and another one do the same tasks with the same model, and prints which tasks
// each has done.
//
//	agent -tasks tasks.json -peer "python peer.py"
//
// SMART_LLM_MODEL and OPENAI_BASE_URL name the model. A task is done if the reply contains its decisive
// words.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/ragflow/agent"
	"example.com/ragflow/graph"
	"example.com/ragflow/llm/providers"
)

type bench struct {
	System, Now string
	Tools       []struct {
		Name, Description string
		Schema            json.RawMessage
	}
	Documents []string
	Tasks     []struct {
		Ask    string
		Want   []string
		Unseen bool // not read while prompts were changed
	}
}

// answer is the outcome of a task.
type answer struct {
	Reply, Error string
	Steps        int
}

var word = regexp.MustCompile(`[a-z0-9]+`)

// search returns the three documents that share most words with a query.
func (b bench) search(query string) string {
	asked := map[string]bool{}
	for _, w := range word.FindAllString(strings.ToLower(query), -1) {
		asked[w] = true
	}
	score := map[string]int{}
	var found []string
	for _, d := range b.Documents {
		seen := map[string]bool{}
		for _, w := range word.FindAllString(strings.ToLower(d), -1) {
			if asked[w] && !seen[w] {
				seen[w] = true
				score[d]++
			}
		}
		if score[d] > 0 {
			found = append(found, d)
		}
	}
	slices.SortStableFunc(found, func(a, b string) int { return cmp.Compare(score[b], score[a]) })
	if len(found) == 0 {
		return "Nothing was found. Try other words."
	}
	return strings.Join(found[:min(3, len(found))], "\n")
}

func calculate(a, b float64, operation string) string {
	result := map[string]float64{"add": a + b, "subtract": a - b, "multiply": a * b, "divide": a / b}[operation]
	return strconv.FormatFloat(result, 'g', 10, 64)
}

func (b bench) agent() (*graph.Runner[agent.State, agent.Update], error) {
	chat, err := providers.FromEnvironment(os.Getenv)
	if err != nil {
		return nil, err
	}
	run := func(_ context.Context, name string, arguments json.RawMessage) (agent.Result, error) {
		var in struct {
			Query, Operation string
			A, B             float64
		}
		if err := json.Unmarshal(arguments, &in); err != nil {
			return agent.Result{}, err
		}
		switch name {
		case "search":
			return agent.Result{Text: b.search(in.Query)}, nil
		case "calculate":
			return agent.Result{Text: calculate(in.A, in.B, in.Operation)}, nil
		}
		return agent.Result{Text: b.Now}, nil
	}
	a := agent.Agent{Chat: chat, System: b.System, MaxTokens: 300}
	for _, t := range b.Tools {
		a.Tools = append(a.Tools, agent.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema, Run: func(ctx context.Context, arguments json.RawMessage) (agent.Result, error) {
			return run(ctx, t.Name, arguments)
		}})
	}
	plan, err := agent.Compile(a)
	if err != nil {
		return nil, err
	}
	return plan.Runner(graph.Options{}), nil
}

// done reports whether a reply contains one of each decisive words, as a whole word.
func done(reply string, want []string) bool {
	reply = regexp.MustCompile(`(\d)[,  ](\d{3})`).ReplaceAllString(reply, "$1$2")
	for _, w := range want {
		if !regexp.MustCompile(`(?i)(^|[^\w.])(` + strings.ReplaceAll(w, ".", `\.`) + `)($|\W)`).MatchString(reply) {
			return false
		}
	}
	return true
}

// peer is a program that reads a JSON string a line and answers with a line.
type peer struct {
	in  io.Writer
	out *bufio.Scanner
}

func (p peer) ask(question string) (a answer, err error) {
	line, _ := json.Marshal(question)
	if _, err = p.in.Write(append(line, '\n')); err != nil {
		return a, err
	}
	if !p.out.Scan() {
		return a, fmt.Errorf("the peer ended: %w", p.out.Err())
	}
	return a, json.Unmarshal(p.out.Bytes(), &a)
}

func started(command string) (peer, error) {
	fields := strings.Fields(command)
	c := exec.Command(fields[0], fields[1:]...)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return peer{}, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return peer{}, err
	}
	return peer{in, bufio.NewScanner(out)}, c.Start()
}

func run(tasks, command string, from int) error {
	text, err := os.ReadFile(tasks)
	if err != nil {
		return err
	}
	var b bench
	if err := json.Unmarshal(text, &b); err != nil {
		return err
	}
	ours, err := b.agent()
	if err != nil {
		return err
	}
	theirs, err := started(command)
	if err != nil {
		return err
	}
	won := map[string]int{}
	for i, t := range b.Tasks[from:] {
		show := func(who string, a answer, begun time.Time) {
			ok := done(a.Reply, t.Want)
			if ok {
				won[fmt.Sprintf("%s unseen=%v", who, t.Unseen)]++
			}
			fmt.Printf("%2d %-6s %-5v %2d calls %3.0f s  %s %q %s\n", from+i+1, who, ok, a.Steps, time.Since(begun).Seconds(), t.Ask, a.Reply, a.Error)
		}
		begun := time.Now()
		s, err := ours.Invoke(context.Background(), graph.Request[agent.Update]{Input: agent.Say(t.Ask)})
		a := answer{Reply: s.Reply(), Steps: s.Turn.Steps}
		if err != nil {
			a.Error = err.Error()
		}
		show("ours", a, begun)
		begun = time.Now()
		if a, err = theirs.ask(t.Ask); err != nil {
			return err
		}
		show("peer", a, begun)
	}
	fmt.Println(won)
	return nil
}

func main() {
	tasks := flag.String("tasks", "tasks.json", "file of the tasks")
	command := flag.String("peer", "python3 peer.py", "program of the other agent")
	from := flag.Int("from", 0, "tasks to skip")
	flag.Parse()
	if err := run(*tasks, *command, *from); err != nil {
		log.Fatal(err)
	}
}
