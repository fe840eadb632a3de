package topology

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// DefaultOrder returns the nodes in the order of the edges, then the branches, then the
// pickers and error handlers; the other nodes follow by name.
func DefaultOrder(g Graph) []string {
	var places []string
	for _, e := range g.Edges {
		places = append(places, e.From, e.To)
	}
	for _, b := range g.Branches {
		places = append(append(places, b.From), b.To...)
	}
	names := slices.Sorted(maps.Keys(g.Nodes))
	for _, name := range names {
		places = append(append(places, g.Nodes[name].To...), g.Nodes[name].Handler)
	}
	var order []string
	listed := map[string]bool{}
	for _, name := range append(places, names...) {
		if _, known := g.Nodes[name]; known && !listed[name] {
			listed[name] = true
			order = append(order, name)
		}
	}
	return order
}

// shape is the part of a node that decides the path of a run. The names of its JSON are part of stored fingerprints.
type shape struct {
	To      []string `json:"to,omitempty"`
	Wait    Wait     `json:"wait,omitempty"`
	Handler string   `json:"handler,omitempty"`
	Sub     string   `json:"sub,omitempty"`
}

// Fingerprint identifies the structure of a graph with a name and a version. It ends with an @ and the version.
func Fingerprint(g Graph, name, version string) string {
	edges := slices.SortedFunc(slices.Values(g.Edges), func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	branches := make(map[string][]string, len(g.Branches)) // json writes the keys sorted
	for _, b := range g.Branches {
		key := b.From
		for n := 2; branches[key] != nil; n++ {
			key = fmt.Sprintf("%s#%d", b.From, n)
		}
		branches[key] = slices.Sorted(slices.Values(b.To))
	}
	shapes := map[string]shape{}
	for name, n := range g.Nodes {
		s := shape{slices.Sorted(slices.Values(n.To)), n.Wait, n.Handler, n.Sub}
		if len(s.To) > 0 || s.Wait != NoWait || s.Handler != "" || s.Sub != "" {
			shapes[name] = s
		}
	}
	parts := []any{"graph/1", name, version, g.Order, edges, branches}
	if len(shapes) > 0 { // otherwise the fingerprint is the same as in older versions
		parts = append(parts, shapes)
	}
	body, err := json.Marshal(parts)
	if err != nil {
		panic("topology: fingerprint of plain strings: " + err.Error()) // unreachable
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:16]) + "@" + version
}
