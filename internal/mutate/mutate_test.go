package mutate_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow/internal/mutate"
)

// faultEnv makes FuzzSample fail in the way that it names.
const faultEnv = "MUTATE_TEST_FAULT"

// FuzzSample is the target that the tests here run in another process.
func FuzzSample(tf *testing.F) {
	fault := os.Getenv(faultEnv)
	f := mutate.New(tf)
	f.Add("# A\n\nb | c\n", []byte("\xff\x00"), 3, uint8(7), true)
	f.Add("{}", []byte(nil), -1, uint8(0), false)
	n := 0
	f.Fuzz(func(t *testing.T, s string, b []byte, size int, kind uint8, on bool) {
		if n++; n < 50 {
			return
		}
		switch fault {
		case "error":
			t.Error("wrong")
		case "fatal":
			t.Fatal("wrong")
		case "panic":
			panic("wrong")
		case "hang":
			select {}
		case "replay": // what the others have kept comes as a seed, and is the same
			t.Logf("%q %q %d %d %v", s, b, size, kind, on)
		}
	})
}

// sample runs FuzzSample in a folder of its own.
func sample(t *testing.T, dir, fault string, flags ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"-test.run=^FuzzSample$", "-test.v"}, flags...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), faultEnv+"="+fault)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestFailingInputIsKept(t *testing.T) {
	for _, fault := range []string{"error", "fatal", "panic", "hang"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			out, err := sample(t, dir, fault, "-blindlimit=300ms")
			if err == nil {
				t.Fatalf("it passed:\n%s", out)
			}
			kept, err := filepath.Glob(filepath.Join(dir, "testdata", "fuzz", "FuzzSample", "*"))
			if err != nil || len(kept) != 1 || !strings.Contains(out, filepath.Base(kept[0])) {
				t.Fatalf("kept %q, %v; output:\n%s", kept, err, out)
			}
			if out, err := sample(t, dir, "none"); err != nil || !strings.Contains(out, "FuzzSample/"+filepath.Base(kept[0])) {
				t.Errorf("Go does not replay it: %v\n%s", err, out)
			}
		})
	}
}

func TestMutationsAreTheSame(t *testing.T) {
	runs := map[string]int{}
	for range 2 {
		out, err := sample(t, t.TempDir(), "replay", "-blind=300", "-blindseed=4")
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		out, _, found := strings.Cut(out, " executions in ")
		if !found {
			t.Fatalf("no count:\n%s", out)
		}
		runs[out]++
	}
	if len(runs) != 1 {
		t.Error("two runs with one seed differ")
	}
}

func TestCorpusIsRead(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "cache", "FuzzSample")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, seed := range map[string]string{
		"good":    "go test fuzz v1\nstring(\"a rare word\")\n[]byte(\"\\xff\")\nint(-5)\nbyte('\\'')\nbool(true)\n",
		"of then": "go test fuzz v1\nstring(\"a rare word\")\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(seed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := sample(t, dir, "replay", "-blind=300", "-blindcorpus=cache")
	if err != nil || !strings.Contains(out, "rare word") {
		t.Errorf("%v\n%s", err, out)
	}
}
