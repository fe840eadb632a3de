package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"example.com/ragflow/threads"
)

// leastTitle is how many columns a title needs beside the other cells of a list;
// with fewer it stands on a line of its own.
const leastTitle = 24

// writeThreads writes a list of threads as a table of some columns, 0 for no
// limit. Titles are cut to fit; what people copy stays whole.
func writeThreads(w io.Writer, list []threads.Info, columns int) {
	rows := [][]string{{"ID", "TURNS", "LAST USED", "SIZE"}}
	titles := []string{"TITLE"}
	for _, t := range list {
		rows = append(rows, []string{line(t.ID), strconv.Itoa(t.Turns), t.Used.UTC().Format("2006-01-02 15:04"), byteSize(t.Bytes)})
		title := line(t.Title)
		if t.Status != "completed" && t.Status != "" {
			title += " [" + t.Status + "]"
		}
		titles = append(titles, title)
	}
	widths := make([]int, len(rows[0]))
	taken := 0
	for i := range widths {
		for _, r := range rows {
			widths[i] = max(widths[i], ansi.StringWidth(r[i]))
		}
		taken += widths[i] + len(gap)
	}
	below := columns > 0 && columns-taken < leastTitle
	for i, r := range rows {
		var b strings.Builder
		for j, cell := range r {
			b.WriteString(cell + strings.Repeat(" ", widths[j]-ansi.StringWidth(cell)) + gap)
		}
		switch {
		case !below:
			b.WriteString(fit(titles[i], columns-taken, columns > 0))
		case i > 0:
			b.WriteString("\n" + gap + fit(titles[i], columns-len(gap), true))
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// gap stands between two cells.
const gap = "  "

// fit cuts a text to a width of the screen.
func fit(text string, width int, cut bool) string {
	if !cut {
		return text
	}
	return ansi.Truncate(text, width, "…")
}
