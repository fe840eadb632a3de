// Command longjob works through many pieces and continues where it was stopped: run it, press Ctrl-C or kill
// it, and run it again.
//
//	go run ./examples/longjob jobs.db 100
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"time"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
)

// Job is a count of finished pieces.
type Job struct{ Done, Of int }

// run works on the job in a file. work does piece n.
func run(ctx context.Context, file string, pieces int, work func(ctx context.Context, n int) error) (Job, error) {
	plan, err := graph.Compile(graph.Graph[Job, Job]{
		Name: "longjob", Apply: func(_, u Job) (Job, error) { return u, nil },
		Nodes: map[string]graph.Task[Job, Job]{"work": {Run: func(ctx context.Context, j Job) (Job, error) {
			j.Done++
			return j, work(ctx, j.Done)
		}}},
		Edges: []graph.Edge{{From: graph.Start, To: "work"}},
		Branches: []graph.Branch[Job]{{From: "work", To: []string{"work", graph.End}, Route: func(j Job) string {
			if j.Done < j.Of {
				return "work"
			}
			return graph.End
		}}},
	})
	if err != nil {
		return Job{}, err
	}
	store, err := checkpoint.Open(ctx, file, checkpoint.Options{})
	if err != nil {
		return Job{}, err
	}
	defer store.Close()
	runner := plan.Runner(graph.Options{Store: store, MaxSteps: pieces + 1})
	return runner.Invoke(ctx, graph.Request[Job]{Thread: "job", Input: Job{Of: pieces}, ResumeOrStart: true})
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: longjob FILE PIECES")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	pieces, _ := strconv.Atoi(os.Args[2])
	job, err := run(ctx, os.Args[1], pieces, func(_ context.Context, n int) error {
		fmt.Println("piece", n)
		time.Sleep(time.Second)
		return nil
	})
	fmt.Printf("%d of %d pieces are done (%v)\n", job.Done, job.Of, err)
}
