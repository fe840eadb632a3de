// Package address names the tasks of a run: a node of the root by its name, and a task of a subgraph after the path
// of that, as in "a/b#2" for the node b in the second step of the subgraph of node a. A part of a fan-out adds
// its index, as in "a[3]". The address of a task that runs a graph is the path of that subgraph.
package address

import (
	"fmt"
	"strconv"
	"strings"
)

// Of returns the address of a task: the path of its subgraph, empty at the root, its node and the step of the
// subgraph.
func Of(path, node string, step int) string {
	if path == "" {
		return node
	}
	return fmt.Sprintf("%s/%s#%d", path, node, step)
}

// Within reports whether a path is that of a task, of a part of it, or of a subgraph in it at any depth.
func Within(path, task string) bool {
	rest, ok := strings.CutPrefix(path, task)
	return ok && (rest == "" || rest[0] == '/' || rest[0] == '[')
}

// Root returns the node of the root that a path begins with.
func Root(path string) string { return path[:strings.IndexAny(path+"/", "/[")] }

// Nodes returns a path without steps and parts, each node with a slash behind it: "a/b/" for "a/b#2[0]".
func Nodes(path string) (nodes string) {
	if path == "" {
		return ""
	}
	for part := range strings.SplitSeq(path, "/") {
		nodes += part[:strings.IndexAny(part+"#", "#[")] + "/"
	}
	return nodes
}

// Outer returns the path of the subgraph around a path, and its step; ok is false at the root.
func Outer(path string) (outer string, step int, ok bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", 0, false
	}
	digits := path[strings.LastIndexByte(path, '#')+1:]
	digits, _, _ = strings.Cut(digits, "[")
	step, err := strconv.Atoi(digits)
	return path[:i], step, err == nil
}

// Steps are the last steps to keep, by the path of their subgraph.
type Steps map[string]int

// UpTo returns the steps that keep a subgraph up to a step, and the subgraphs around it up to the step before the one
// that it runs in.
func UpTo(path string, step int) Steps {
	s := Steps{path: step}
	for outer, turn, ok := Outer(path); ok; outer, turn, ok = Outer(outer) {
		s[outer] = turn - 1
	}
	return s
}

// Keep reports whether a step of a subgraph is kept: it is early enough, or the subgraph ran in a step that is kept.
func (s Steps) Keep(path string, step int) bool {
	for {
		if last, ok := s[path]; ok {
			return step <= last
		}
		outer, turn, ok := Outer(path)
		if !ok {
			return false
		}
		path, step = outer, turn
	}
}
