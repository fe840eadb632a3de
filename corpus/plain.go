package corpus

// plainBlocks returns the paragraphs of s[from:], blank lines with the
// paragraph before them.
func plainBlocks(s string, from int) []block {
	var out []block
	gap := true // the line before was blank
	for at := from; at < len(s); {
		end := lineEnd(s, at)
		empty := isBlank(s[at:end])
		if !empty && gap || len(out) == 0 {
			out = append(out, block{start: at, kind: kindText})
		}
		out[len(out)-1].end = end
		gap = empty
		at = end
	}
	return out
}
