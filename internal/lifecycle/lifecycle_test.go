package lifecycle_test

import (
	"os"
	"strings"
	"testing"

	"example.com/ragflow/internal/lifecycle"
)

// legal is the lifecycle written a second time, status by status.
var legal = map[string]map[string]string{
	lifecycle.Pending: {lifecycle.Start: lifecycle.Running, lifecycle.Cancel: lifecycle.Cancelled},
	lifecycle.Running: {
		lifecycle.Interrupt: lifecycle.Interrupted, lifecycle.Complete: lifecycle.Completed, lifecycle.Fail: lifecycle.Failed,
		lifecycle.Cancel: lifecycle.Cancelled, lifecycle.Limit: lifecycle.Limited, lifecycle.Resume: lifecycle.Running,
		lifecycle.Supersede: lifecycle.Superseded,
	},
	lifecycle.Interrupted: {
		lifecycle.Resume: lifecycle.Running, lifecycle.Cancel: lifecycle.Cancelled, lifecycle.Supersede: lifecycle.Superseded,
	},
	lifecycle.Failed:     {lifecycle.Resume: lifecycle.Running, lifecycle.Supersede: lifecycle.Superseded},
	lifecycle.Cancelled:  {lifecycle.Resume: lifecycle.Running, lifecycle.Supersede: lifecycle.Superseded},
	lifecycle.Limited:    {lifecycle.Resume: lifecycle.Running, lifecycle.Supersede: lifecycle.Superseded},
	lifecycle.Completed:  {},
	lifecycle.Superseded: {},
}

func TestAfter(t *testing.T) {
	t.Parallel()
	for from, moves := range legal {
		for _, move := range []string{
			lifecycle.Start, lifecycle.Resume, lifecycle.Interrupt, lifecycle.Complete,
			lifecycle.Fail, lifecycle.Cancel, lifecycle.Limit, lifecycle.Supersede, "fly",
		} {
			want, ok := moves[move]
			if to, is := lifecycle.After(from, move); is != ok || to != want {
				t.Errorf("%s when %s leads to %q, %v, want %q, %v", move, from, to, is, want, ok)
			}
		}
	}
}

// TestArchitectureShowsTheLifecycle compares the diagram of ARCHITECTURE.md with the lifecycle that runs obey.
func TestArchitectureShowsTheLifecycle(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	diagram, err := lifecycle.Diagram()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), strings.TrimSpace(diagram)) {
		t.Errorf("ARCHITECTURE.md does not hold the diagram of the lifecycle:\n%s", diagram)
	}
}
