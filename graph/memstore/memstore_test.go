package memstore_test

import (
	"context"
	"fmt"
	"testing"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/graphtest"
	"example.com/ragflow/graph/memstore"
)

func TestStore(t *testing.T) {
	graphtest.Run(t, func(*testing.T) graph.Store {
		s := memstore.New()
		s.Texts = graphtest.Texts
		return s
	})
}

func ExampleNew() {
	s := memstore.New()
	_, err := s.Head(context.Background(), "thread")
	fmt.Println(err)
	// Output: head: thread "thread": not found
}
