package transcript

import (
	"fmt"
	"strconv"
	"strings"

	"example.com/ragflow/graph"
)

// DebugLines describes the tasks of a superstep in lines for debugging:
//
//	[DEBUG pre_retrieval] queries: 2
//
// For each task they show its details in order, then the skip reason, the number of calls, the warnings and
// the error. The route of pre_retrieval is shown as route_query. The lines have no line ends.
func DebugLines(tasks []graph.Delta) []string {
	var out []string
	for _, t := range tasks {
		if t.Node == "" {
			continue
		}
		add := func(key, value string) {
			node := joined(t.Path, t.Node)
			if t.Node == "pre_retrieval" && strings.HasPrefix(key, "route") {
				node = "route_query"
			}
			out = append(out, fmt.Sprintf("[DEBUG %s] %s: %s", oneLine(node), oneLine(key), oneLine(value)))
		}
		for _, d := range t.Notes.Details {
			add(d.Key, d.Value)
		}
		if t.Notes.Skipped != "" {
			add("skipped", t.Notes.Skipped)
		}
		add("model calls", strconv.Itoa(len(t.Notes.Calls)))
		for _, w := range t.Notes.Warnings {
			add("warning", w)
		}
		if t.Error != "" {
			add("error", t.Error)
		}
	}
	return out
}

// StageLines returns the duration of each task of a superstep in seconds, one line per task
// without a line end: "⏱️ retrieval: 0.02s".
func StageLines(tasks []graph.Delta) []string {
	var out []string
	for _, t := range tasks {
		if t.Node != "" {
			out = append(out, fmt.Sprintf("⏱️ %s: %.2fs", oneLine(joined(t.Path, t.Node)), t.Notes.Duration.Seconds()))
		}
	}
	return out
}
