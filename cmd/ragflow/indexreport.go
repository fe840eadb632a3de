package main

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"example.com/ragflow/ingest"
)

// indexed sums up on one line what indexing did.
func indexed(r *ingest.Report) string {
	detail := counts(
		ingest.Count{Name: "new", Count: r.Added}, ingest.Count{Name: "changed", Count: r.Changed},
		ingest.Count{Name: "removed", Count: r.Removed}, ingest.Count{Name: "unchanged", Count: r.Unchanged},
	)
	if detail != "" {
		detail = " (" + detail + ")"
	}
	return fmt.Sprintf("indexed %s%s in %.1f s", count(r.Added+r.Changed, "file"), detail, r.ElapsedMS/1e3)
}

// holds says what the index holds now.
func holds(r *ingest.Report) string {
	return fmt.Sprintf("the index holds %s in %s", count(r.Chunks, "passage"), count(r.Indexed, "file"))
}

// counts names how many there are of each kind, without those that there are none of.
func counts(list ...ingest.Count) string {
	var parts []string
	for _, c := range list {
		if c.Count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.Count, strings.ToLower(c.Name)))
		}
	}
	return strings.Join(parts, ", ")
}

// denseTrouble warns of passages that cannot be found by meaning.
func (a *app) denseTrouble(r *ingest.DenseReport) {
	switch {
	case r == nil:
	case r.Error != "" && r.Chunks == 0: // the stored vectors cannot be used, so none was looked at
		a.warn("search by meaning is left out: " + r.Error)
	case r.Error != "":
		a.warn(fmt.Sprintf("search by meaning is incomplete, %d of %s without a vector: %s", r.Missing, count(r.Chunks, "passage"), r.Error))
	case r.Missing > 0:
		a.warn("search by meaning is incomplete, the model refused " + count(r.Missing, "passage"))
	}
}

// embedded sums up on one line what embedding did; empty if it did nothing.
func embedded(r *ingest.DenseReport) string {
	if r == nil || r.Embedded == 0 {
		return ""
	}
	return fmt.Sprintf("embedded %s with %s", count(r.Embedded, "passage"), line(r.Model))
}

// problems warns of files that were left out.
func (a *app) problems(g *given, r *ingest.Report) {
	all := "ragflow index --json" // names all of them
	for _, p := range g.docs() {
		all += " " + quoted(p)
	}
	if r.Chunks == 0 || r.Unchanged < r.Files { // not at every question again
		a.problemList("could not read ", all, r.Failed)
	}
	a.problemList("", all, r.Warned)
	if r.Added+r.Changed == 0 && r.Files > 0 { // not at every question again
		return
	}
	kinds := map[string]int{} // of files that are not read, by extension
	var known []ingest.FileProblem
	for _, p := range r.Skipped {
		if p.OtherKind() {
			kinds[cmp.Or(line(filepath.Ext(p.Source)), "without an extension")]++
		} else {
			known = append(known, p)
		}
	}
	a.problemList("skipped ", all, known)
	var others []string
	for _, ext := range slices.Sorted(maps.Keys(kinds)) {
		others = append(others, fmt.Sprintf("%d %s", kinds[ext], ext))
	}
	if len(others) > 0 {
		a.tell("not read, of other kinds: %s; \"%s\" names them", strings.Join(others, ", "), all)
	}
}

// problemList warns of the first files one by one.
func (a *app) problemList(what, all string, list []ingest.FileProblem) {
	const maxNamed = 5
	for _, p := range list[:min(len(list), maxNamed)] {
		a.warn(fmt.Sprintf("%s%s: %s", what, p.Source, p.Reason))
	}
	if more := len(list) - maxNamed; more > 0 {
		a.warn(fmt.Sprintf("%s%s more; \"%s\" names all", what, count(more, "file"), all))
	}
}
