// Package draw draws compiled graphs as Mermaid flowcharts.
//
//	fmt.Print(draw.Mermaid(plan.Shape()))
package draw

import (
	"fmt"
	"strings"

	"example.com/ragflow/graph"
)

// Mermaid draws a graph as a Mermaid flowchart, with its subgraphs inside. Branches are dotted and
// carry their labels.
func Mermaid(s graph.Shape) string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	mermaid(&b, s, "", "    ")
	return b.String()
}

// mermaid draws one graph. Its identifiers begin with prefix.
func mermaid(b *strings.Builder, s graph.Shape, prefix, indent string) {
	ids := map[string]string{graph.Start: prefix + "start", graph.End: prefix + "stop"}
	fmt.Fprintf(b, "%s%s([Start])\n", indent, ids[graph.Start])
	for i, name := range s.Nodes {
		ids[name] = fmt.Sprintf("%sn%d", prefix, i+1)
		if inner, ok := s.Subs[name]; ok {
			fmt.Fprintf(b, "%ssubgraph %s[%s]\n", indent, ids[name], mermaidText(name))
			mermaid(b, inner, ids[name]+"_", indent+"    ")
			fmt.Fprintf(b, "%send\n", indent)
			continue
		}
		fmt.Fprintf(b, "%s%s[%s]\n", indent, ids[name], mermaidText(name))
	}
	fmt.Fprintf(b, "%s%s([End])\n", indent, ids[graph.End])
	for _, l := range s.Links {
		arrow := "-->"
		if l.Optional {
			arrow = "-.->"
		}
		if l.Label != "" {
			arrow += "|" + mermaidText(l.Label) + "|"
		}
		fmt.Fprintf(b, "%s%s %s %s\n", indent, ids[l.From], arrow, ids[l.To])
	}
}

// mermaidText quotes a text; inside quotes only these characters are special.
func mermaidText(s string) string {
	return `"` + strings.NewReplacer(`#`, "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;").Replace(s) + `"`
}
