//go:build unix

package ocr_test

import (
	"errors"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/ocr"
)

// table has two paragraphs of three lines, with words of little confidence and rows that are broken.
const table = `level	page_num	block_num	par_num	line_num	word_num	left	top	width	height	conf	text
1	1	0	0	0	0	0	0	827	1169	-1	
5	1	1	1	1	1	140	101	90	30	96.3	The
5	1	1	1	1	2	240	101	60	30	91	valve
5	1	1	1	1	3	310	101	60	30	39.9	#~'
5	1	1	1	2	1	140	141	100	30	88	is	extra
5	1	1	1	2	1	142	141	100	30	88	open.
5	1	1	2	1	1	140	341	100	30	70	Close
5	1	1	2	1	1	140	341	100	30	high	nonsense
5	1	1	2	1	2	250	341	50	30	70	 
5
`

// program puts a program named tesseract on PATH, which is a shell script.
func program(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tesseract"), []byte("#!/bin/sh\nPATH=/usr/bin:/bin\n"+script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
}

func read(t *testing.T, cache string, limit time.Duration) ([]ocr.Line, error) {
	t.Helper()
	r, err := ocr.Find("eng+deu", cache)
	if err != nil {
		t.Fatal(err)
	}
	if limit > 0 {
		r.SetMaxTime(limit)
	}
	return r.Read(t.Context(), image.NewGray(image.Rect(0, 0, 40, 20)), 150)
}

// TestRead reads a table. The program gets a PNG, the languages and no environment, and is
// called once for a picture.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SECRET", "key")
	program(t, `env >> `+dir+`/env; echo "$@" >> `+dir+`/calls; head -c 4 > `+dir+`/picture; cat > /dev/null; cat `+dir+`/table`)
	if err := os.WriteFile(filepath.Join(dir, "table"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []ocr.Line{
		{Text: "The valve", Left: 140, Right: 300, Begins: true},
		{Text: "open.", Left: 142, Right: 242},
		{Text: "Close", Left: 140, Right: 240, Begins: true},
	}
	for range 2 {
		got, err := read(t, filepath.Join(dir, "cache"), 0)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	for name, want := range map[string]string{"calls": "stdin stdout -l eng+deu --dpi 150 tsv\n", "picture": "\x89PNG"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	env, err := os.ReadFile(filepath.Join(dir, "env"))
	if err != nil || strings.Contains(string(env), "SECRET") || !strings.Contains(string(env), "OMP_THREAD_LIMIT=1") {
		t.Errorf("environment %q, %v", env, err)
	}
}

// TestTrouble: each failure is an error, ends in time, and is not kept.
func TestTrouble(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct{ name, script, want string }{
		{"no table", `cat > /dev/null; echo 'hello'`, "tesseract wrote no table"},
		{"nothing", `cat > /dev/null`, "tesseract wrote no table"},
		{"reads nothing", `exit 0`, "tesseract"},
		{"fails", "printf 'no \\033[31mlanguage\\nmore\\n' >&2; exit 1", "tesseract failed: no [31mlanguage"},
		{"much", `yes`, "tesseract wrote more than 8 MB"},
		{"much trouble", `yes >&2 & sleep 1; exit 1`, "tesseract failed: y"},
		{"hangs", `sleep 100 & echo $! > ` + dir + `/child; wait`, "tesseract took longer than 300ms"},
		{"leaves a child", `sleep 100 > /dev/null 2>&1 < /dev/null & exit 3`, "tesseract failed: exit status 3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			program(t, tt.script)
			cache, limit, began := t.TempDir(), 20*time.Second, time.Now()
			if tt.name == "hangs" {
				limit = 300 * time.Millisecond
			}
			lines, err := read(t, cache, limit)
			if err == nil || !strings.Contains(err.Error(), tt.want) || len(lines) > 0 {
				t.Errorf("%v, %v, want %s", lines, err, tt.want)
			}
			if strings.Contains(err.Error(), "failed") != errors.Is(err, ocr.ErrFailed) {
				t.Errorf("%v matches ErrFailed: %v", err, errors.Is(err, ocr.ErrFailed))
			}
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("it took %v", took)
			}
			if kept, err := os.ReadDir(cache); err != nil || len(kept) > 0 {
				t.Errorf("kept %v, %v", kept, err)
			}
		})
	}
	child, err := os.ReadFile(filepath.Join(dir, "child"))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 { // until the process is gone, or waits to be reaped
		stat, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(child)), "stat"))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the child of the program that hung still runs")
}

func TestFind(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := ocr.Find("eng", ""); !errors.Is(err, ocr.ErrMissing) {
		t.Errorf("error %v, want ErrMissing", err)
	}
	for languages, want := range map[string]bool{"eng": true, "eng+chi_sim": true, "": false, "-l": false, "eng deu": false, "../x": false, "eng+": false} {
		if got := ocr.CheckLanguages(languages); got != want {
			t.Errorf("languages %q: %v", languages, got)
		}
	}
}

// TestDamagedCache: what cannot be read of the cache is made again.
func TestDamagedCache(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "table"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	program(t, `cat > /dev/null; cat `+dir+`/table`)
	cache := filepath.Join(dir, "cache")
	if _, err := read(t, cache, 0); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadDir(cache)
	if err != nil || len(kept) != 1 {
		t.Fatalf("%v, %v", kept, err)
	}
	if err := os.WriteFile(filepath.Join(cache, kept[0].Name()), []byte(`[{"Te`), 0o600); err != nil {
		t.Fatal(err)
	}
	if lines, err := read(t, cache, 0); err != nil || len(lines) != 3 {
		t.Errorf("%v, %v", lines, err)
	}
}
