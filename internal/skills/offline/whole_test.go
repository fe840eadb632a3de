package offline_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/load"
	"example.com/ragflow/internal/sanitize"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// TestShownIsWhole reads random documents in every format that is easily written, asks for random words
// of them, and holds what package readable promises: what an answer shows of a passage is there in the order
// of the passage, and where something that a reader sees is left out there is "…". The documents are
// made of atoms, words and values that stand once in each, so that the test needs no parser of its own.
func TestShownIsWhole(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for name, write := range formats {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(rounds) {
				r := rand.New(rand.NewPCG(seed, 7))
				parts := randomParts(r)
				if strings.HasSuffix(name, "pdf") {
					parts = inLatin(parts)
				}
				data, kept := write(t, parts)
				doc, err := load.Parse(t.Context(), name, data)
				if err != nil {
					t.Fatal(err)
				}
				size := []int{0, 48, 160}[seed%3]
				chunks := chunk.Cut(doc, chunk.Options{Size: size})
				checkLoaded(t, kept, chunks)
				for range 6 {
					checkAnswer(t, r, kept, chunks)
				}
				if t.Failed() {
					t.Fatalf("seed %d, the document:\n%s", seed, doc.Text)
				}
			}
		})
	}
}

// part is a block of a document: its lines, cells or sentences, each of atoms.
type part struct {
	kind string // heading, text, label, begun, value, amount (a value that is typeset as a heading), list, table, code, rule, hidden
	rows [][]string
}

func (p part) atoms() []string { return slices.Concat(p.rows...) }

// without are parts without those of some kinds.
func without(parts []part, kinds ...string) []part {
	return slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return slices.Contains(kinds, p.kind) })
}

// apart makes a part of each row of some kinds.
func apart(parts []part, kinds ...string) (out []part) {
	for _, p := range parts {
		if !slices.Contains(kinds, p.kind) {
			out = append(out, p)
			continue
		}
		for _, row := range p.rows {
			out = append(out, part{p.kind, [][]string{row}})
		}
	}
	return out
}

// sentences are the rows of a text, one line.
func (p part) sentences(end string) string {
	var out []string
	for _, row := range p.rows {
		out = append(out, "X "+strings.Join(row, " ")+end)
	}
	return strings.Join(out, " ")
}

// lines are the rows of a block of code.
func lines(p part) string {
	var out []string
	for _, row := range p.rows {
		out = append(out, strings.Join(row, " "))
	}
	return strings.Join(out, "\n")
}

// randomParts makes a document. Every atom of it stands there once.
func randomParts(r *rand.Rand) []part {
	n := 0
	word := func() string {
		n++
		var b strings.Builder
		for k, i := n*37, 0; i < 3; k, i = k/60, i+1 {
			b.WriteByte("bdfgklmnprst"[k%60/5])
			b.WriteByte("aeiou"[k%60%5])
		}
		return b.String()
	}
	value := func() string {
		n++
		switch k := 10000 + n; r.IntN(10) {
		case 0:
			return fmt.Sprintf("%d.00 €", k)
		case 1:
			return fmt.Sprintf("%d-12-%02d", 2000+n/28, 1+n%28)
		case 2:
			return fmt.Sprintf("%02d:%02d:59", n/60, n%60)
		case 3:
			return fmt.Sprintf("+49 555 %d", k)
		case 4:
			return fmt.Sprintf("(%d)", k)
		case 5:
			return fmt.Sprintf("－%d", k)
		case 6:
			return fmt.Sprintf("§ %d – %d", k, k)
		case 7:
			return fmt.Sprintf("%d**2", k)
		case 8:
			return fmt.Sprintf("%d EUR", k)
		}
		return strings.Map(func(d rune) rune { return d + '０' - '0' }, strconv.Itoa(10000+n))
	}
	words := func(most int) (out []string) {
		for range 1 + r.IntN(most) {
			out = append(out, word())
		}
		return out
	}
	rows := func(most int, row func() []string) (out [][]string) {
		for range 1 + r.IntN(most) {
			out = append(out, row())
		}
		return out
	}
	parts := []part{{"text", [][]string{{word(), word()}}}}
	for range 4 + r.IntN(14) {
		switch r.IntN(9) {
		case 0:
			parts = append(parts, part{"heading", [][]string{words(3)}})
		case 1, 2:
			parts = append(parts, part{"text", rows(5, func() []string { return words(14) })})
		case 3:
			value, label := part{[]string{"value", "amount"}[r.IntN(2)], [][]string{{value()}}}, part{"label", [][]string{words(8)}}
			if value.kind == "amount" {
				label.kind = []string{"label", "begun"}[r.IntN(2)]
			}
			parts = append(parts, label, value)
		case 4:
			parts = append(parts, part{"value", [][]string{{value()}}})
		case 5:
			parts = append(parts, part{"list", rows(9, func() []string { return append(words(9), value()) })})
		case 6:
			width := 2 + r.IntN(2)
			parts = append(parts, part{"table", append([][]string{[]string{word(), word(), word()}[:width]}, rows(12, func() []string {
				return []string{value(), word(), value()}[:width]
			})...)})
		case 7:
			parts = append(parts, part{"code", rows(24, func() []string { return []string{word()} })})
		default:
			parts = append(parts, part{kind: []string{"rule", "hidden"}[r.IntN(2)]})
		}
	}
	return parts
}

// inLatin replaces what the fonts that every reader of PDF has do not show.
func inLatin(parts []part) []part {
	for _, p := range parts {
		for _, row := range p.rows {
			for i, atom := range row {
				row[i] = strings.Map(func(c rune) rune {
					switch {
					case c >= '０' && c <= '９':
						return c - '０' + '0'
					case c > 255 && c != '€':
						return '-'
					}
					return c
				}, atom)
			}
		}
	}
	return parts
}

// checkLoaded holds that all that a reader sees of a document is in its chunks, in order.
func checkLoaded(t *testing.T, parts []part, chunks []state.Chunk) {
	t.Helper()
	var all strings.Builder
	for _, c := range chunks {
		all.WriteString(c.Text)
	}
	rest := all.String()
	for i, p := range parts {
		if p.kind == "amount" && !slices.ContainsFunc(chunks, func(c state.Chunk) bool {
			label := parts[i-1].rows[0]
			return strings.Contains(c.Text, p.rows[0][0]) && strings.Contains(c.Text, label[len(label)-1])
		}) {
			t.Fatalf("%q stands in another chunk than its label", p.rows[0][0])
		}
		for _, atom := range p.atoms() {
			_, after, ok := strings.Cut(rest, atom)
			if !ok {
				t.Fatalf("%q is in no chunk, or not behind the one before", atom)
			}
			rest = after
		}
	}
}

// chunkStats counts words as an index of some chunks does.
type chunkStats []state.Chunk

func (chunkStats) Analyzer() text.Analyzer { return text.For("en") }

func (x chunkStats) Docs() int { return len(x) }

func (chunkStats) DocFreq(string) int { return 1 }

// checkAnswer asks for words of the document and checks what is shown.
func checkAnswer(t *testing.T, r *rand.Rand, parts []part, chunks []state.Chunk) {
	t.Helper()
	first := r.IntN(len(chunks))
	task := state.Task{Route: state.RouteSearch, Language: "en", Grade: state.Grade{Score: 0.9}}
	var inside []string // atoms of the first source
	for i, c := range chunks[first:min(len(chunks), first+3)] {
		task.Sources = append(task.Sources, state.Source{Chunk: c, Score: 1 / float64(i+1)})
	}
	for _, p := range parts {
		for _, atom := range p.atoms() {
			if strings.Contains(task.Sources[0].Text, atom) {
				inside = append(inside, atom)
			}
		}
	}
	if len(inside) == 0 {
		return
	}
	at := r.IntN(len(inside))
	task.Question = "What is the " + strings.Join(inside[at:min(len(inside), at+4)], " ") + "?"
	task.Queries = []state.Query{{Text: task.Question, Weight: 1, Attempt: 1}}
	got, err := offline.New(chunkStats(chunks), 0).Answerer.Answer(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	got.Text = new(sanitize.Filter).All(got.Text)
	shown := strings.ReplaceAll(got.Text, `\`, "")
	for n, order := range got.Order {
		mark := fmt.Sprintf("[Source %d]", n+1)
		piece, after, ok := strings.Cut(shown, mark)
		if !ok {
			t.Fatalf("no %s in:\n%s", mark, got.Text)
		}
		if more, rest, ok := strings.Cut(after, "\n\n"); ok && strings.TrimSpace(more) == "" && strings.HasPrefix(rest, "… ") {
			piece += "\n\n" + strings.SplitN(rest, "\n", 2)[0] // how many items more
		}
		shown = after
		checkPiece(t, parts, task.Sources[order-1].Text, piece)
	}
	plain := strings.NewReplacer("**", "", `\`, "").Replace(got.Text)
	for _, c := range got.Citations {
		for _, p := range parts {
			for _, atom := range p.atoms() {
				if strings.Contains(c.Quote, atom) && !strings.Contains(plain, strings.ReplaceAll(atom, "**", "")) {
					t.Errorf("%q is quoted and not shown", atom)
				}
			}
		}
	}
	if t.Failed() {
		t.Fatalf("%s\n%s\n\n%+v", task.Question, got.Text, got.Citations)
	}
}

// checkPiece checks the shown text of one passage against its source.
func checkPiece(t *testing.T, parts []part, passage, piece string) {
	t.Helper()
	end, marked := -1, true // of the atom before; since then "…" stood for an omission
	var begun string        // the last atom of a label, if it is shown
	for _, p := range parts {
		var missing string // of a part whose other atoms are shown
		any := false
		for _, atom := range p.atoms() {
			if !strings.Contains(passage, atom) {
				continue
			}
			i := strings.Index(piece, atom)
			if i < 0 && begun != "" && !strings.Contains(piece[end:], "…") {
				t.Errorf("%q is shown without %q, which follows, and without a mark", begun, atom)
			}
			begun = ""
			if i < 0 {
				missing, marked = atom, false
				continue
			}
			if i < end {
				t.Errorf("%q stands before what it follows", atom)
				return
			}
			gap := end >= 0 && !marked
			if gap && !strings.Contains(piece[end:i], "…") {
				t.Errorf("before %q something is left out without a mark", atom)
			}
			end, any, marked = i+len(atom), true, true
		}
		if row := p.atoms(); (p.kind == "label" || p.kind == "begun") && strings.Contains(piece, row[len(row)-1]) {
			begun = row[len(row)-1]
		}
		if any && missing != "" && !strings.Contains(piece, "…") {
			t.Errorf("%q is left out of a %s without a mark", missing, p.kind)
		}
	}
}
