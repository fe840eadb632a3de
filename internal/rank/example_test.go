package rank_test

import (
	"fmt"

	"example.com/ragflow/internal/rank"
	"example.com/ragflow/state"
)

func ExampleRRF() {
	hit := func(chunk, list string, place int) state.Hit {
		return state.Hit{Chunk: chunk, Legs: []state.Leg{{Name: list, Rank: place}}}
	}
	lexical := []state.Hit{hit("volumes", "lexical", 1), hit("storage", "lexical", 2)}
	dense := []state.Hit{hit("storage", "dense", 1), hit("backup", "dense", 2)}

	for _, h := range rank.RRF(rank.Merge(lexical, dense), even) {
		fmt.Printf("%-8s %.5f\n", h.Chunk, h.Score)
	}
	// Output:
	// storage  0.03252
	// volumes  0.01639
	// backup   0.01613
}

func ExampleMMR() {
	relevance := []float64{1.0, 0.9, 0.5}
	similarity := func(i, j int) float64 {
		if i+j == 1 { // the first two are alike
			return 0.95
		}
		return 0.1
	}
	fmt.Println(rank.MMR(relevance, similarity, 0.5, 2))
	// Output: [0 2]
}

// even gives every list the weight 1.
func even(state.Leg) float64 { return 1 }
