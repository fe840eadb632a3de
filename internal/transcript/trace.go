package transcript

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/state"
)

// FlowTraceMD renders flow_trace.md: a summary of five lines, the facts of the run, the
// passages that competed for the answer, one section for each visit of a node in order,
// and a table of calls per model. A failed attempt has a section too, with its error.
func FlowTraceMD(r Run) string {
	commits := r.ordered()
	vs := visits(commits)
	var b strings.Builder
	b.WriteString("# Flow trace\n\n")
	for i, line := range summary(r, commits, vs) {
		fmt.Fprintf(&b, "%d. %s\n", i+1, line)
	}
	b.WriteString("\n")
	writeRun(&b, r, commits, vs)
	writePassages(&b, r.State.Turn, vs)
	for i, v := range vs {
		writeVisit(&b, i+1, v)
	}
	writeTotals(&b, vs)
	return b.String()
}

func writeRun(b *strings.Builder, r Run, commits []graph.Commit, vs []visit) {
	st, why := status(commits)
	item(b, "thread", inline(r.Thread))
	item(b, "run", inline(r.ID))
	if len(commits) > 0 {
		item(b, "started", commits[0].Time.UTC().Format("2006-01-02 15:04:05.000 UTC"))
	}
	item(b, "status", inline(string(st)))
	if why != "" {
		item(b, "error", inline(why))
	}
	var busy time.Duration
	warnings := 0
	for _, v := range vs {
		busy += v.Notes.Duration
		warnings += len(v.Notes.Warnings)
	}
	item(b, "time", fmt.Sprintf("%s, of which in nodes %s", duration(elapsed(commits)), duration(busy)))
	if warnings > 0 {
		item(b, "warnings", strconv.Itoa(warnings))
	}
}

// writePassages lists the passages that post_retrieval chose, the best first, and what
// became of each.
func writePassages(b *strings.Builder, t state.Turn, vs []visit) {
	if len(t.Sources) == 0 || !finished(vs, "post_retrieval") {
		return
	}
	b.WriteString("\n## Passages that competed\n\n| passage | about | score | in the answer |\n| --- | --- | ---: | --- |\n")
	for _, s := range bestFirst(t.Sources) {
		used := "not cited"
		if i := slices.IndexFunc(t.Citations, func(c state.Citation) bool { return c.Chunk == s.ID }); i >= 0 {
			used = fmt.Sprintf("source %d", t.Citations[i].N)
		}
		about := s.Title
		if n := len(s.Headings); n > 0 && s.Headings[n-1] != s.Title {
			about = strings.TrimPrefix(about+": "+s.Headings[n-1], ": ")
		}
		fmt.Fprintf(b, "| %s | %s | %.4f | %s |\n", inline(passage(s.Chunk)), inline(about), s.Score, used)
	}
}

// bestFirst returns sources by descending score; an answer numbers them by use.
func bestFirst(sources []state.Source) []state.Source {
	return slices.SortedStableFunc(slices.Values(sources), func(a, b state.Source) int { return cmp.Compare(b.Score, a.Score) })
}

// passage formats the position of a chunk.
func passage(c state.Chunk) string {
	return Place(state.Citation{Source: c.Source, StartLine: c.StartLine, EndLine: c.EndLine, Page: c.Page, PageLabel: c.PageLabel(c.Start, c.Start+1)}, prompts.English)
}

func writeVisit(b *strings.Builder, i int, v visit) {
	failed := ""
	if v.Error != "" {
		failed = " (failed attempt)"
	}
	fmt.Fprintf(b, "\n## %d. %s%s\n\n", i, inline(joined(v.Path, v.Node)), failed)
	n := v.Notes
	if n.Skipped != "" {
		fmt.Fprintf(b, "%s\n\n", inline(n.Skipped))
	}
	item(b, "step", strconv.Itoa(v.step))
	item(b, "by", inline(madeBy(n)))
	item(b, "model calls", strconv.Itoa(len(n.Calls)))
	for _, d := range n.Details {
		if d.Key != byKey {
			item(b, inline(d.Key), inline(d.Value))
		}
	}
	for _, c := range n.Calls {
		item(b, "call", callLine(c))
	}
	if n.Early > 0 {
		item(b, "began early", duration(n.Early))
	}
	for _, w := range n.Wasted {
		item(b, "begun in vain", fmt.Sprintf("%s, %s", inline(w.Node), duration(w.Duration)))
		for _, c := range w.Calls {
			item(b, "call in vain", callLine(c))
		}
	}
	for _, w := range n.Warnings {
		item(b, "warning", inline(w))
	}
	item(b, "time", duration(n.Duration))
	if v.Error != "" {
		b.WriteString("\n" + fenced("", v.Error))
	}
}

func callLine(c graph.Call) string {
	parts := []string{inline(c.Name)}
	for _, key := range slices.Sorted(maps.Keys(c.Counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", inline(key), c.Counts[key]))
	}
	parts = append(parts, duration(c.Duration))
	if c.Error != "" {
		parts = append(parts, "failed: "+inline(c.Error))
	}
	return strings.Join(parts, ", ")
}

func item(b *strings.Builder, key, value string) {
	fmt.Fprintf(b, "- %s: %s\n", key, value)
}

func joined(path, node string) string {
	if path == "" {
		return node
	}
	return path + "/" + node
}

func writeTotals(b *strings.Builder, vs []visit) {
	rows := totals(vs)
	all := total{name: "total"}
	b.WriteString("\n## Summary of calls per model\n\n" +
		"| model | calls | failed | input tokens | output tokens | time |\n" +
		"| --- | ---: | ---: | ---: | ---: | ---: |\n")
	row := func(t total, mark string) {
		fmt.Fprintf(b, "| %s%s%s | %d | %d | %d | %d | %s |\n", mark, inline(t.name), mark, t.calls, t.failed, t.in, t.out, duration(t.time))
	}
	for _, t := range rows {
		row(t, "")
		all.calls += t.calls
		all.failed += t.failed
		all.in += t.in
		all.out += t.out
		all.time += t.time
	}
	row(all, "**")
}

// duration formats a duration with three significant digits, or tenths of a second.
func duration(d time.Duration) string {
	switch abs := d.Abs(); {
	case abs < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case abs < time.Second:
		return fmt.Sprintf("%.3g ms", d.Seconds()*1e3)
	case abs < 10*time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
