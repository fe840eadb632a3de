package lineedit

import "strings"

// recall moves through history. It reports whether name is a command that
// does; the arrows first move within a text of several lines.
func (e *editor) recall(name string) bool {
	switch name {
	case "up", "previous":
		if name == "previous" || !e.buffer.vertical(false) {
			e.show(e.at - 1)
		}
	case "down", "next":
		if name == "next" || !e.buffer.vertical(true) {
			e.show(e.at + 1)
		}
	case "oldest":
		e.show(0)
	case "newest":
		e.show(len(e.history.entries))
	default:
		return false
	}
	return true
}

// show replaces the text by an entry of history, or by what was new.
func (e *editor) show(at int) {
	entries := e.history.entries
	if at < 0 || at > len(entries) || at == e.at {
		return
	}
	if e.at == len(entries) {
		e.fresh = e.buffer.text
	}
	e.at = at
	if at == len(entries) {
		e.buffer.set(e.fresh)
		return
	}
	e.buffer.set(entries[at])
}

// search is a search through history, newest first, that goes on with each key.
type search struct {
	text   string
	before buffer // to go back to
	at     int    // the entry found; len(entries) for none
}

// searchKey takes a key while searching. It reports whether the key was for
// the search; any other ends it and then does its own work.
func (e *editor) searchKey(k key) bool {
	f := e.found
	switch {
	case k.name == "search":
		e.look(f.at)
	case k.name == "" && k.text != "":
		f.text += k.text
		e.look(min(f.at+1, len(e.history.entries)))
	case k.name == "backspace":
		if f.text != "" {
			sought := buffer{text: f.text, at: len(f.text)}
			sought.do("backspace")
			f.text = sought.text
		}
		e.look(len(e.history.entries))
	case k.name == "abort":
		e.buffer = f.before
		e.found = nil
	default:
		e.found = nil
		return false
	}
	return true
}

// look shows the newest entry before index before that holds the text sought.
func (e *editor) look(before int) {
	f := e.found
	if f.at >= len(e.history.entries) || f.text == "" {
		f.at = len(e.history.entries)
	}
	if f.text == "" {
		return
	}
	for i := before - 1; i >= 0; i-- {
		if n := strings.Index(e.history.entries[i], f.text); n >= 0 {
			f.at, e.at = i, i
			e.buffer.text, e.buffer.at = e.history.entries[i], n
			return
		}
	}
}
