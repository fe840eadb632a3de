package lineedit

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// buffer is a text being edited. at is where the cursor stands: a byte offset
// at the edge of a grapheme cluster.
type buffer struct {
	text   string
	at     int
	killed string   // what Ctrl-Y brings back
	past   []change // newest last
	typing bool     // the last change was typing, which one undo takes back as a whole
}

// change is a state that undo goes back to.
type change struct {
	text string
	at   int
}

// mostChanges is how many changes can be undone.
const mostChanges = 100

// set replaces the text, with the cursor at its end.
func (b *buffer) set(text string) {
	b.remember(false)
	b.text, b.at = text, len(text)
}

func (b *buffer) remember(typing bool) {
	if typing && b.typing {
		return
	}
	b.typing = typing
	b.past = append(b.past, change{b.text, b.at})
	if len(b.past) > mostChanges {
		b.past = b.past[1:]
	}
}

func (b *buffer) undo() {
	b.typing = false
	if n := len(b.past); n > 0 {
		b.text, b.at = b.past[n-1].text, b.past[n-1].at
		b.past = b.past[:n-1]
	}
}

func (b *buffer) insert(s string, typed bool) {
	b.remember(typed)
	b.text = b.text[:b.at] + s + b.text[b.at:]
	b.at += len(s)
	b.at = b.edge(b.at) // a combining mark may have joined what stands after it
}

// edge returns the first edge of a cluster at or after offset i.
func (b *buffer) edge(i int) int {
	start := b.lineStart(i)
	for start < i {
		cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(b.text[start:], -1)
		start += len(cluster)
	}
	return start
}

func (b *buffer) lineStart(i int) int { return 1 + strings.LastIndexByte(b.text[:i], '\n') }

func (b *buffer) lineEnd(i int) int {
	if n := strings.IndexByte(b.text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(b.text)
}

// left returns the offset one cluster before the cursor.
func (b *buffer) left() int {
	if b.at == 0 {
		return 0
	}
	i := b.lineStart(b.at)
	if i == b.at {
		return b.at - 1 // the newline
	}
	for {
		cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(b.text[i:], -1)
		if i+len(cluster) >= b.at {
			return i
		}
		i += len(cluster)
	}
}

// right returns the offset one cluster after the cursor.
func (b *buffer) right() int {
	if b.at == len(b.text) {
		return b.at
	}
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(b.text[b.at:], -1)
	return b.at + len(cluster)
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_'
}

// wordLeft returns where the word before the cursor begins.
func (b *buffer) wordLeft() int {
	head := strings.TrimRightFunc(b.text[:b.at], func(r rune) bool { return !inWord(r) })
	return len(strings.TrimRightFunc(head, inWord))
}

// wordRight returns where the word after the cursor ends.
func (b *buffer) wordRight() int {
	tail := strings.TrimLeftFunc(b.text[b.at:], func(r rune) bool { return !inWord(r) })
	return len(b.text) - len(strings.TrimLeftFunc(tail, inWord))
}

// remove deletes the text between two offsets and leaves the cursor there.
func (b *buffer) remove(from, to int, keep bool) {
	if from >= to {
		return
	}
	b.remember(false)
	if keep {
		b.killed = b.text[from:to]
	}
	b.text, b.at = b.text[:from]+b.text[to:], from
}

// transpose swaps the two clusters around the cursor.
func (b *buffer) transpose() {
	if b.at == len(b.text) {
		b.at = b.left()
	}
	from, to := b.left(), b.right()
	if from == b.at || to == b.at || strings.Contains(b.text[from:to], "\n") {
		return
	}
	b.remember(false)
	b.text, b.at = b.text[:from]+b.text[b.at:to]+b.text[from:b.at]+b.text[to:], to
}

// vertical moves the cursor one line of the text up or down, as near to its
// column as the line allows. It reports whether there was such a line.
func (b *buffer) vertical(down bool) bool {
	start := b.lineStart(b.at)
	column := uniseg.GraphemeClusterCount(b.text[start:b.at])
	var target int
	if down {
		end := b.lineEnd(b.at)
		if end == len(b.text) {
			return false
		}
		target = end + 1
	} else {
		if start == 0 {
			return false
		}
		target = b.lineStart(start - 1)
	}
	end := b.lineEnd(target)
	for target < end && column > 0 {
		cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(b.text[target:], -1)
		target += len(cluster)
		column--
	}
	b.at = target
	return true
}

// do carries out a command that concerns the text alone. It reports whether it
// knew it.
func (b *buffer) do(name string) bool {
	switch name {
	case "left":
		b.at = b.left()
	case "right":
		b.at = b.right()
	case "word left":
		b.at = b.wordLeft()
	case "word right":
		b.at = b.wordRight()
	case "home":
		b.at = b.lineStart(b.at)
	case "end":
		b.at = b.lineEnd(b.at)
	case "backspace":
		b.remove(b.left(), b.at, false)
	case "delete":
		b.remove(b.at, b.right(), false)
	case "kill word":
		b.remove(b.wordLeft(), b.at, true)
	case "delete word":
		b.remove(b.at, b.wordRight(), true)
	case "kill to end":
		to := b.lineEnd(b.at)
		if to == b.at {
			to = b.right() // the newline
		}
		b.remove(b.at, to, true)
	case "kill to home":
		b.remove(b.lineStart(b.at), b.at, true)
	case "yank":
		b.insert(b.killed, false)
	case "transpose":
		b.transpose()
	case "newline":
		b.insert("\n", false)
	case "undo":
		b.undo()
	default:
		return false
	}
	b.typing = false
	return true
}

// continued reports whether the text ends in a backslash that asks for another
// line, and takes it off.
func (b *buffer) continued() bool {
	if b.at != len(b.text) || !strings.HasSuffix(b.text, `\`) || strings.HasSuffix(b.text, `\\`) {
		return false
	}
	b.remember(false)
	b.text = strings.TrimSuffix(b.text, `\`) + "\n"
	b.at = len(b.text)
	return true
}

// widthOf is how many columns a cluster takes on the screen.
func widthOf(cluster string) int {
	if cluster == "\t" {
		return tabWidth
	}
	return uniseg.StringWidth(cluster)
}

const tabWidth = 4
