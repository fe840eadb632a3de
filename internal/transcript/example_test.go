package transcript_test

import (
	"fmt"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/transcript"
	"example.com/ragflow/state"
)

func Example() {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	r := transcript.Run{
		Thread: "t", ID: "r",
		Commits: []graph.Commit{{ // newest first; one is enough here
			Run: "r", Step: 1, Source: graph.SourceLoop, Status: graph.Completed, Time: noon,
			Deltas: []graph.Delta{{Node: "generate", Notes: graph.Notes{
				Duration: 3 * time.Millisecond,
				Details:  []graph.Detail{{Key: "sources", Value: "1"}},
			}}},
		}},
		State: state.State{Turn: state.Turn{
			Query:  "What outlives a container?",
			Answer: "A volume does [Source 1].",
			Citations: []state.Citation{{
				N: 1, Source: "volumes.md", Root: "/docs", Title: "Volumes", StartLine: 3, EndLine: 3,
				Quote: "A volume outlives its container.",
			}},
		}},
	}
	fmt.Print(transcript.AnswerMD(r, transcript.Options{}))
	for _, line := range transcript.DebugLines(r.Commits[0].Deltas) {
		fmt.Println(line)
	}
	// Output:
	// # What outlives a container?
	//
	// *Thread t · 2026-01-02 12:00 UTC*
	//
	// A volume does [\[1\]](#source-1).
	//
	// ## Sources
	//
	// ### Source 1
	//
	// **Volumes** — [volumes.md:3](/docs/volumes.md#L3)
	//
	// > ```text
	// > A volume outlives its container.
	// > ```
	// [DEBUG generate] sources: 1
	// [DEBUG generate] model calls: 0
}
