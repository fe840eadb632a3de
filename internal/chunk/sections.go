package chunk

import (
	"slices"

	"example.com/ragflow/internal/document"
)

// sections sets the path of each block and returns the sections, which begin at headings down
// to the deepest level. Headings below it part no section. A heading that only introduces a
// deeper one belongs to the section of the latter.
func sections(blocks []document.Block, deepest int) [][]document.Block {
	var out [][]document.Block
	var stack []document.Block // headings above
	var path []string
	from, bare := 0, true
	for i := range blocks {
		b := &blocks[i]
		if b.Level > 0 {
			if b.Level <= deepest && !bare {
				out = append(out, blocks[from:i])
				from = i
			} else if b.Level <= deepest && i > from && len(stack) > 0 && stack[len(stack)-1].Level >= b.Level {
				out = append(out, blocks[from:i]) // headings without text that b does not belong to
				from = i
			}
			for len(stack) > 0 && stack[len(stack)-1].Level >= b.Level {
				stack = stack[:len(stack)-1]
			}
			stack = append(stack, *b)
			path = headings(stack)
		}
		bare = b.Level > 0 && (bare || i == from)
		b.Path = path
		if len(stack) > 0 {
			b.Depth = stack[len(stack)-1].Level
		}
	}
	return append(out, blocks[from:])
}

func headings(stack []document.Block) []string {
	var path []string
	for _, h := range stack {
		if h.Heading != "" {
			path = append(path, h.Heading)
		}
	}
	return slices.Clip(path)
}
