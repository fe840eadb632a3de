package transcript

import (
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/graph"
)

// stage is the nodes of one superstep, in rank order.
type stage struct {
	done   []string
	failed []string
}

// stages groups a run's visits by commit. A node that failed and then succeeded
// within one commit counts as done.
func stages(commits []graph.Commit) []stage {
	var out []stage
	for _, c := range commits {
		var s stage
		for _, v := range visits([]graph.Commit{c}) {
			name := joined(v.Path, v.Node)
			if v.Error == "" && !slices.Contains(s.done, name) {
				s.done = append(s.done, name)
			}
		}
		for _, v := range visits([]graph.Commit{c}) {
			name := joined(v.Path, v.Node)
			if v.Error != "" && !slices.Contains(s.done, name) && !slices.Contains(s.failed, name) {
				s.failed = append(s.failed, name)
			}
		}
		if len(s.done)+len(s.failed) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// mermaid draws the path taken: each node once, and each move between supersteps as
// a numbered arrow. If several nodes ran in one superstep, each of them has an arrow
// to each node of the next superstep.
func mermaid(commits []graph.Commit) string {
	var b strings.Builder
	b.WriteString("flowchart TD\n    start([start])\n")
	ids := map[string]string{}
	id := func(name string) string {
		if ids[name] == "" {
			ids[name] = fmt.Sprintf("n%d", len(ids)+1)
			fmt.Fprintf(&b, "    %s[\"%s\"]\n", ids[name], label(name))
		}
		return ids[name]
	}
	all := stages(commits)
	var broken []string // ids of nodes that failed, in order
	for _, s := range all {
		for _, name := range s.done {
			id(name)
		}
		for _, name := range s.failed {
			if n := id(name); !slices.Contains(broken, n) {
				broken = append(broken, n)
			}
		}
	}
	st, _ := status(commits)
	fmt.Fprintf(&b, "    finish([%s])\n", label(string(st)))
	from := []string{"start"}
	move := 0
	step := func(to []string) {
		move++
		for _, x := range from {
			for _, y := range to {
				fmt.Fprintf(&b, "    %s -->|%d| %s\n", x, move, y)
			}
		}
		from = to
	}
	for _, s := range all {
		var to []string
		for _, name := range slices.Concat(s.done, s.failed) {
			to = append(to, ids[name])
		}
		step(to)
	}
	step([]string{"finish"})
	if len(broken) > 0 {
		fmt.Fprintf(&b, "    classDef failed stroke:#c00,stroke-dasharray:4\n    class %s failed\n", strings.Join(broken, ","))
	}
	return b.String()
}

// label escapes a name for Mermaid.
func label(name string) string {
	return strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "`", "#96;",
		"[", "#91;", "]", "#93;", "(", "#40;", ")", "#41;").Replace(oneLine(name))
}
