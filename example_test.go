package ragflow_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"example.com/ragflow"
)

// handbook makes a folder with one document, and says how to remove it.
func handbook() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "handbook")
	if err != nil {
		panic(err)
	}
	page := "# Leave\n\nEveryone has 28 days of leave a year. The team lead approves leave of up to five days.\n"
	if err := os.WriteFile(filepath.Join(dir, "leave.md"), []byte(page), 0o600); err != nil {
		panic(err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }
}

func ExampleAssistant_Ask() {
	ctx := context.Background()
	docs, remove := handbook()
	defer remove()
	a, err := ragflow.Open(ctx, ragflow.Config{Docs: []string{docs}})
	if err != nil {
		panic(err)
	}
	defer a.Close()
	reply, err := a.Ask(ctx, ragflow.Question{Text: "How many days of leave do I have?", Thread: "work"})
	if err != nil {
		panic(err)
	}
	c := reply.Citations[0]
	fmt.Printf("%s line %d: %s\n", c.Source, c.StartLine, c.Quote)
	// Output:
	// leave.md line 3: Everyone has 28 days of leave a year. The team lead approves leave of up to five days.
}

func ExampleAssistant_Stream() {
	ctx := context.Background()
	docs, remove := handbook()
	defer remove()
	a, err := ragflow.Open(ctx, ragflow.Config{Docs: []string{docs}})
	if err != nil {
		panic(err)
	}
	defer a.Close()
	for e, err := range a.Stream(ctx, ragflow.Question{Text: "Who approves leave?"}) {
		if err != nil {
			panic(err)
		}
		if e.Kind == ragflow.StepEnded {
			fmt.Println(e.Node)
		}
	}
	// Output:
	// ingest
	// pre_retrieval
	// retrieval
	// check_and_refine
	// post_retrieval
	// summarize_conversation
	// generate
}

func ExampleAssistant_Rate() {
	ctx := context.Background()
	docs, remove := handbook()
	defer remove()
	data, err := os.MkdirTemp("", "data")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(data) }()
	a, err := ragflow.Open(ctx, ragflow.Config{DataDir: data, Docs: []string{docs}})
	if err != nil {
		panic(err)
	}
	defer a.Close()
	if _, err := a.Ask(ctx, ragflow.Question{Text: "How many days of leave do I have?", Thread: "work"}); err != nil {
		panic(err)
	}
	if _, err := a.Rate(ctx, ragflow.Rating{Thread: "work", Good: true, Note: "complete"}); err != nil {
		panic(err)
	}
	all, err := a.Ratings(ctx, "")
	if err != nil {
		panic(err)
	}
	for _, f := range all {
		fmt.Println(f.Rating, f.Question, f.Note)
	}
	// Output:
	// up How many days of leave do I have? complete
}
