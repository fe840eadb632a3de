package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const page = "| floor | before | now |\n| shown.golden, an older row | .80 | .70 |\n"

const test = `package a

func TestA(t *testing.T) {
	const minRight = 0.6
	if got := f(); got < 0.8 || late > 2 {
		t.Errorf("%v", got)
	}
	if got < 5 {
		return
	}
	for _, tt := range []struct{ floor float64 }{{floor: 0.9}} {
	}
}
`

const shown = `# Of a comment: 0.5 counts, too

English: 629 questions over 240 documents
  ndcg_10 0.9802 [0.9720, 0.9873], recall_100 0.9984 [0.9952, 1.0000]
found first: 25 of 30 (floor 24)
calibration error 0.037 (below 0.12)
true         45/50    37/46
`

func TestFloors(t *testing.T) {
	for _, tt := range []struct{ name, file, old, now, want string }{
		{"all as before", "", "", "", ""},
		{"a floor falls", "a_test.go", "0.8", "0.75", "| 0.8 | 0.75 |"},
		{"a floor rises", "a_test.go", "0.8", "0.85", ""},
		{"a ceiling rises", "a_test.go", "late > 2", "late > 3", "| 2 | 3 |"},
		{"a ceiling falls", "a_test.go", "late > 2", "late > 1.5", ""},
		{"a constant", "a_test.go", "0.6", "0.5", "| 0.6 | 0.5 |"},
		{"a field", "a_test.go", "0.9", "0.85", "| 0.9 | 0.85 |"},
		{"no bound", "a_test.go", "5", "4", ""},
		{"a bound goes", "a_test.go", "got < 0.8 || ", "", "| 0.8 | gone |"},
		{"a metric", "shown.golden", "0.9802", "0.9801", "| 0.9802 | 0.9801 |"},
		{"an interval", "shown.golden", "0.9720", "0.9620", ""},
		{"a count", "shown.golden", "629", "600", ""},
		{"a share", "shown.golden", "25 of", "24 of", "| 25 of 30 | 24 of 30 |"},
		{"the floor in a golden file", "shown.golden", "floor 24", "floor 23", "| 24 | 23 |"},
		{"an error", "shown.golden", "0.037", "0.038", "| 0.037 | 0.038 |"},
		{"a smaller error", "shown.golden", "0.037", "0.036", ""},
		{"its ceiling", "shown.golden", "0.12", "0.13", "| 0.12 | 0.13 |"},
		{"a cell", "shown.golden", "37/46", "36/46", "| 37/46 | 36/46 |"},
		{"a set goes", "shown.golden", "English", "French", "| 0.9802 | gone |"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			landed, now := tree(t), tree(t)
			change(t, filepath.Join(now, tt.file), tt.old, tt.now)
			got := compare(t, landed, now)
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if got == "" {
				return
			}
			change(t, filepath.Join(landed, "docs/floors.md"), page, page+got)
			change(t, filepath.Join(now, "docs/floors.md"), page, page+got)
			if again := compare(t, landed, now); again == "" {
				t.Error("a line that landed before is a reason")
			}
			change(t, filepath.Join(landed, "docs/floors.md"), got, "")
			if again := compare(t, landed, now); again != "" {
				t.Errorf("with the printed line: %q", again)
			}
		})
	}
}

func TestMovedFigures(t *testing.T) {
	landed, now := tree(t), tree(t)
	if err := os.Rename(filepath.Join(now, "a_test.go"), filepath.Join(now, "docs/b_test.go")); err != nil {
		t.Fatal(err)
	}
	if got := compare(t, landed, now); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestNoTree(t *testing.T) {
	var out strings.Builder
	if worse := run(tree(t), t.TempDir(), &out); worse == 0 || !strings.Contains(out.String(), "floors.md: no such file") {
		t.Errorf("%d worse: %s", worse, &out)
	}
}

func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"docs/floors.md": page, "a_test.go": test, "shown.golden": shown} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func change(t *testing.T, file, old, now string) {
	t.Helper()
	if old == now {
		return
	}
	text, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(text, []byte(old)) {
		t.Fatalf("%s: %v, or it has no %q", file, err, old)
	}
	if err := os.WriteFile(file, bytes.Replace(text, []byte(old), []byte(now), 1), 0o600); err != nil {
		t.Fatal(err)
	}
}

// compare returns the printed rows.
func compare(t *testing.T, landed, now string) string {
	t.Helper()
	var out strings.Builder
	worse := run(landed, now, &out)
	lines := strings.SplitAfter(out.String(), "\n")
	if worse != len(lines)-2 {
		t.Errorf("%d figures are worse, and %d rows are printed", worse, len(lines)-2)
	}
	return strings.Join(lines[:len(lines)-2], "")
}
