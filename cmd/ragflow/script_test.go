package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/feedback"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/internal/tune"
	"example.com/ragflow/threads"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ragflow": main, "sqlite3": sqlite3, "mcp-stock": serveStock})
}

// Each script in testdata/script is a session: commands, what they print and
// how they exit.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			scan, err := filepath.Abs(filepath.Join("..", "..", "internal", "pdf", "testdata", "scan.pdf"))
			if err != nil {
				return err
			}
			e.Setenv("SCAN", scan)
			e.Setenv("GORACE", os.Getenv("GORACE"))
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, "home", "data"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "home", "config"))
			return os.Mkdir(filepath.Join(e.WorkDir, "home"), 0o700)
		},
		Condition: func(c string) (bool, error) {
			if c == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, errors.New("unknown condition")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     cmdExits,
			"schema":    cmdSchema,
			"field":     cmdField,
			"setfield":  cmdSetField,
			"citations": cmdCitations,
			"repeat":    cmdRepeat,
			"hexfile":   cmdHexFile,
			"only":      cmdOnly,
			"played":    cmdPlayed,
		},
	})
}

// played NAME starts a server that plays a model and sets the variable NAME to its address.
func cmdPlayed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: played NAME")
	}
	s := llmtest.NewServer(llmtest.Script(
		llmtest.Entry{When: "what an image shows", Do: llmtest.Say("Error 17: the volume is full.")},
		llmtest.Entry{When: "Tulips", Do: llmtest.Say("SCORE: 0.10\nREFINED: opening hours")},
		llmtest.Entry{When: "Answer now", Do: llmtest.Say("There are 12 red boxes in the store. [Source 2]")},
		llmtest.Entry{When: "does a volume keep", Do: llmtest.Say("A volume keeps the data. [Source 1]")},
		llmtest.Entry{When: "How many red boxes", Do: llmtest.CallTool("stock_count", `{"colour":"red"}`)},
		llmtest.Entry{When: "SCORE:", Do: llmtest.Say("SCORE: 0.90\nREFINED: opening hours")},
		llmtest.Entry{When: "sea", Do: llmtest.Say("The sea is wide.")},
		llmtest.Entry{When: "Sources:", Do: llmtest.Say("A volume keeps the data. [Source 1]")},
		llmtest.Entry{When: "", Do: llmtest.Models("small", "large")},
	))
	ts.Defer(s.Close)
	ts.Setenv(args[0], s.URL())
}

// exits CODE PROGRAM ARG... runs a program that must end with this exit code.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	if stderr := ts.ReadFile("stderr"); strings.Contains(stderr, "goroutine ") {
		ts.Fatalf("a Go stack on stderr")
	}
}

// schemas are the objects that --json writes.
func schemas() map[string]any {
	return map[string]any{
		"ask":       &ragflow.Reply{},
		"search":    &ragflow.SearchReply{},
		"index":     &ingest.Report{},
		"explain":   &explainReply{},
		"threads":   &threadsReply{},
		"feedback":  &feedback.List{},
		"rated":     &feedback.Feedback{},
		"models":    &modelsReply{},
		"trial":     &trialReply{},
		"prices":    &pricesReply{},
		"optimized": &tune.Report{},
		"thread":    &threads.Thread{},
		"info":      &threads.Info{},
		"verified":  &threads.Verified{},
		"pruned":    &threads.PruneReport{},
		"deleted":   &deleteReply{},
		"config":    &configReply{},
		"version":   &versionReply{},
		"doctor":    &doctorReply{},
		"eval":      &eval.Result{},
		"compare":   &eval.Comparison{},

		"retrieval": &retrievalReply{},
		"analytics": &ragflow.Analytics{},

		"collections": &collectionsReply{},
	}
}

// schema NAME makes sure that standard output is exactly one JSON object with
// all fields of the schema, no others, and no null for a list.
func cmdSchema(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: schema NAME")
	}
	target, ok := schemas()[args[0]]
	if !ok {
		ts.Fatalf("unknown schema %q", args[0])
	}
	stdout := ts.ReadFile("stdout")
	dec := json.NewDecoder(strings.NewReader(stdout))
	dec.DisallowUnknownFields()
	ts.Check(dec.Decode(target))
	if dec.More() {
		ts.Fatalf("more than one JSON value")
	}
	var got map[string]any
	ts.Check(json.Unmarshal([]byte(stdout), &got))
	for _, name := range fieldNames(reflect.TypeOf(target).Elem()) {
		if v, there := got[name]; !there || v == nil {
			ts.Fatalf("field %q is missing or null", name)
		}
	}
}

// fieldNames returns the JSON names of a struct's fields.
func fieldNames(t reflect.Type) []string {
	var out []string
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case strings.Contains(options, "omit"): // may be left out
		case f.Anonymous:
			out = append(out, fieldNames(f.Type)...)
		case name != "-":
			out = append(out, name)
		}
	}
	return out
}

// lookup follows a path such as citations.0.source through standard output.
func lookup(ts *testscript.TestScript, path string) string {
	var v any
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	dec.UseNumber()
	ts.Check(dec.Decode(&v))
	for part := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[part]
			if !ok {
				ts.Fatalf("%s: no field %q", path, part)
			}
			v = next
		case []any:
			if part == "len" {
				return strconv.Itoa(len(at))
			}
			i, err := strconv.Atoi(part)
			ts.Check(err)
			if i >= len(at) {
				ts.Fatalf("%s: only %d elements", path, len(at))
			}
			v = at[i]
		default:
			ts.Fatalf("%s: %q is neither object nor list", path, part)
		}
	}
	if s, ok := v.(string); ok {
		return s
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	ts.Check(enc.Encode(v))
	return strings.TrimSpace(b.String())
}

// field PATH REGEXP matches a field of the JSON on standard output as a whole.
func cmdField(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] field PATH REGEXP")
	}
	got := lookup(ts, args[0])
	if regexp.MustCompile("^(?:"+args[1]+")$").MatchString(got) == neg {
		ts.Fatalf("%s is %q, want match %v of %q", args[0], got, !neg, args[1])
	}
}

// setfield NAME PATH puts a field of the JSON on standard output into a
// variable.
func cmdSetField(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: setfield NAME PATH")
	}
	ts.Setenv(args[0], lookup(ts, args[1]))
}

// citations LEAST makes sure that the answer on standard output has at least so
// many citations, and that every quote stands in its file at its bytes and
// lines.
func cmdCitations(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: citations LEAST")
	}
	least, err := strconv.Atoi(args[0])
	ts.Check(err)
	var r ragflow.Reply
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &r))
	if len(r.Citations) < least {
		ts.Fatalf("%d citations, want at least %d", len(r.Citations), least)
	}
	for _, c := range r.Citations {
		data := ts.ReadFile(c.Path)
		if c.Start < 0 || c.End > len(data) || c.Start >= c.End || data[c.Start:c.End] != c.Quote {
			ts.Fatalf("citation %d: quote %q is not at bytes %d to %d of %s", c.N, c.Quote, c.Start, c.End, c.Path)
		}
		first := 1 + strings.Count(data[:c.Start], "\n")
		last := 1 + strings.Count(strings.TrimSuffix(data[:c.End], "\n"), "\n")
		if c.StartLine != first || c.EndLine != last {
			ts.Fatalf("citation %d: lines %d to %d, want %d to %d", c.N, c.StartLine, c.EndLine, first, last)
		}
	}
}

// repeat FILE TIMES TEXT writes a text many times over.
func cmdRepeat(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: repeat FILE TIMES TEXT")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat(args[2], n)), 0o600))
}

// hexfile FILE BYTES writes bytes that are no text, given in hex.
func cmdHexFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: hexfile FILE BYTES")
	}
	data, err := hex.DecodeString(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o600))
}

// only DIR NAME... makes sure that a folder holds these files and nothing else.
func cmdOnly(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: only DIR [NAME...]")
	}
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	want := slices.Sorted(slices.Values(args[1:]))
	if !slices.Equal(got, want) {
		ts.Fatalf("%s holds %q, want %q", args[0], got, want)
	}
}
