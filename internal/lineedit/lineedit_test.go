package lineedit

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// typed puts keys into a buffer.
func typed(t *testing.T, input string) *buffer {
	t.Helper()
	var d decoder
	b := &buffer{}
	for _, k := range d.take([]byte(input)) {
		switch {
		case k.name == "" || k.name == "paste":
			b.insert(k.text, k.name == "")
		case !b.do(k.name):
			t.Fatalf("the buffer does not know %q", k.name)
		}
	}
	return b
}

func TestKeys(t *testing.T) {
	const left, home, altB, altD = "\x1b[D", "\x01", "\x1bb", "\x1bd"
	for _, tt := range []struct{ name, input, want string }{
		{"text", "abc", "abc|"},
		{"insert in the middle", "ac" + left + "b", "ab|c"},
		{"backspace takes a cluster", "xe\u0301\x7f", "x|"},
		{"backspace takes an emoji", "a👩‍👩‍👧\x7f", "a|"},
		{"left over a wide cluster", "日本" + left + "x", "日x|本"},
		{"home and end", "one two\x01>\x05<", ">one two<|"},
		{"words", "one two" + altB + altB + "x", "x|one two"},
		{"ctrl arrow", "one two\x1b[1;5Dx", "one x|two"},
		{"kill word and yank", "one two\x17" + home + "\x19", "two|one "},
		{"delete word", "one two" + home + altD, "| two"},
		{"kill to the end", "one two" + altB + "\x0b", "one |"},
		{"kill the newline", "a\nb" + left + left + "\x0b", "a|b"},
		{"kill to the start", "one\ntwo\x15", "one\n|"},
		{"delete", "abc" + home + "\x1b[3~", "|bc"},
		{"transpose", "ab\x14", "ba|"},
		{"undo typing as one", "abc\x1f", "|"},
		{"undo a kill", "one two\x17\x1f", "one two|"},
		{"paste keeps lines and drops sequences", "\x1b[200~a\r\nb\rc\x1b[31m\x07\x1b[201~d", "a\nb\nc[31md|"},
		{"unknown sequences", "a\x1b[99;3~\x1bOZ\x1b[?1cb", "ab|"},
		{"bad bytes", "a\xffb", "a\ufffdb|"},
		{"nothing to do", "\x7f\x1b[3~\x17\x0b\x15" + left + altB + altD, "|"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := typed(t, tt.input)
			if got := b.text[:b.at] + "|" + b.text[b.at:]; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// However input is cut into chunks, the keys are the same, but for text, which
// may come in pieces.
func FuzzDecoder(f *testing.F) {
	f.Add("a\x1b[D\x1b[200~b\r\n\x1b[201~\xe6\x97\xa5", uint8(1))
	f.Add("\x1b[\x1b\x1b\x1b[1;5D\xff", uint8(2))
	f.Fuzz(func(t *testing.T, input string, size uint8) {
		if len(input) > 4<<10 {
			return // the screen is laid out after every key
		}
		join := func(keys []key) string {
			var b strings.Builder
			for _, k := range keys {
				if k.name == "" {
					b.WriteString(k.text)
				} else {
					b.WriteString("<" + k.name + ":" + k.text + ">")
				}
			}
			return b.String()
		}
		var whole, cut decoder
		want := whole.take([]byte(input))
		var got []key
		for n := max(int(size), 1); len(input) > 0; input = input[min(n, len(input)):] {
			got = append(got, cut.take([]byte(input[:min(n, len(input))]))...)
		}
		if diff := cmp.Diff(join(want), join(got)); diff != "" {
			t.Errorf("keys (-whole +cut):\n%s", diff)
		}
		b := &buffer{}
		for _, k := range got { // never out of range, always at an edge
			if k.name == "" || k.name == "paste" {
				b.insert(k.text, true)
			} else if !b.do(k.name) {
				b.vertical(k.name == "down")
			}
			if b.at < 0 || b.at > len(b.text) {
				t.Fatalf("cursor at %d of %d", b.at, len(b.text))
			}
			layout(b.text, b.at, "> ", "  ", 10)
		}
	})
}

func TestLayout(t *testing.T) {
	for _, tt := range []struct {
		name, text  string
		at          int
		rows        []string
		row, column int
	}{
		{"empty", "", 0, []string{"> "}, 0, 2},
		{"short", "abc", 1, []string{"> abc"}, 0, 3},
		{"full row", "12345678", 8, []string{"> 12345678"}, 0, 10},
		{"wraps", "123456789", 8, []string{"> 12345678", "  9"}, 1, 2},
		{"wide clusters stay whole", "1234567日", 7, []string{"> 1234567", "  日"}, 1, 2},
		{"lines", "a\nb", 2, []string{"> a", ". b"}, 1, 2},
		{"tab", "a\tb", 3, []string{"> a    b"}, 0, 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := layout(tt.text, tt.at, "\x1b[1m>\x1b[0m ", ". ", 10)
			s.rows[0] = strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(s.rows[0])
			if diff := cmp.Diff(tt.rows, s.rows); diff != "" || s.row != tt.row || s.column != tt.column {
				t.Errorf("cursor %d,%d, want %d,%d; rows (-want +got):\n%s", s.row, s.column, tt.row, tt.column, diff)
			}
		})
	}
	tall := layout(strings.Repeat("x\n", 20), 10, "", "", 10).window(4)
	if len(tall.rows) != 4 || tall.row != 3 {
		t.Errorf("window of %d rows with the cursor in %d, want 4 and 3", len(tall.rows), tall.row)
	}
}

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	h, err := OpenHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []string{"one", "one", " ", "two\nlines \\n", "tab\tand \x1b[31m"} {
		if err := h.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	again, err := OpenHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one", "two\nlines \\n", "tab\tand [31m"}, again.entries); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode().Perm())
	}
}

// A file that grew too long is shortened to the newest entries.
func TestHistoryIsShortened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	if err := os.WriteFile(path, []byte(strings.Repeat("old\n", 2*mostEntries)+"new\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := OpenHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.entries) != mostEntries || strings.Count(string(data), "\n") != mostEntries || h.entries[mostEntries-1] != "new" {
		t.Errorf("%d entries, %d lines", len(h.entries), strings.Count(string(data), "\n"))
	}
}

// A history that cannot be kept is an error, and still works.
func TestHistoryThatCannotBeKept(t *testing.T) {
	h, err := OpenHistory(filepath.Join(t.TempDir(), "missing", "history"))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Add("one"); err == nil || len(h.entries) != 1 {
		t.Errorf("Add: %v, %d entries; want an error and 1 entry", err, len(h.entries))
	}
}
