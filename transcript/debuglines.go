package transcript

import (
	"fmt"
	"strconv"
	"strings"

	"example.com/ragflow/graph"
)

// routeKey is the detail of pre_retrieval with the route. Debug lines show it under
// the name route_query.
const routeKey = "route"

// DebugLines describes the tasks of a superstep in lines for debugging:
//
//	[DEBUG pre_retrieval] queries: 2
//
// For each task they show its details in order, then the skip reason, the number of
// calls, the warnings and the error. The lines have no line ends.
func DebugLines(tasks []graph.Delta) []string {
	var out []string
	for _, t := range tasks {
		if t.Node == "" {
			continue
		}
		add := func(node, key, value string) {
			out = append(out, fmt.Sprintf("[DEBUG %s] %s: %s", oneLine(node), oneLine(key), oneLine(value)))
		}
		node := joined(t.Path, t.Node)
		for _, d := range t.Notes.Details {
			if t.Node == "pre_retrieval" && strings.HasPrefix(d.Key, routeKey) {
				add("route_query", d.Key, d.Value)
				continue
			}
			add(node, d.Key, d.Value)
		}
		if t.Notes.Skipped != "" {
			add(node, "skipped", t.Notes.Skipped)
		}
		add(node, "model calls", strconv.Itoa(len(t.Notes.Calls)))
		for _, w := range t.Notes.Warnings {
			add(node, "warning", w)
		}
		if t.Error != "" {
			add(node, "error", t.Error)
		}
	}
	return out
}

// StageLines returns the duration of each task of a superstep, one line per task
// without a line end: "⏱️ retrieval: 24.1 ms".
func StageLines(tasks []graph.Delta) []string {
	var out []string
	for _, t := range tasks {
		if t.Node != "" {
			out = append(out, fmt.Sprintf("⏱️ %s: %s", oneLine(joined(t.Path, t.Node)), duration(t.Notes.Duration)))
		}
	}
	return out
}
