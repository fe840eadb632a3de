package llmclient

import "strings"

// thinkingFilter removes the block <think>…</think> with which some local models
// begin a reply. It gets the pieces of a stream and returns what is left of each.
type thinkingFilter struct {
	held  string // text whose meaning the next pieces decide
	state int
	found bool // a block began
}

// States of a thinkingFilter.
const (
	atBeginning = iota
	inThought
	inAnswer
)

const (
	thoughtBegins = "<think>"
	thoughtEnds   = "</think>"
)

// next returns the part of a piece that belongs to the answer.
func (f *thinkingFilter) next(piece string) string {
	switch f.state {
	case inAnswer:
		return piece
	case inThought:
		f.held += piece
		_, answer, ended := strings.Cut(f.held, thoughtEnds)
		if !ended {
			f.held = f.held[max(0, len(f.held)-len(thoughtEnds)):] // the end may be split
			return ""
		}
		f.state, f.held = atBeginning, "" // blank lines follow, rarely another block
		return f.next(answer)
	}
	f.held += piece
	begin := strings.TrimLeft(f.held, " \r\n\t")
	if strings.HasPrefix(begin, thoughtBegins) {
		f.state, f.held, f.found = inThought, "", true
		return f.next(begin[len(thoughtBegins):])
	}
	if strings.HasPrefix(thoughtBegins, begin) { // also if begin is empty
		return ""
	}
	f.state = inAnswer
	if !f.found {
		begin = f.held
	}
	f.held = ""
	return begin
}

// rest returns the text that is still held when the stream ends.
func (f *thinkingFilter) rest() string {
	if f.state != atBeginning {
		return ""
	}
	return f.held
}
