package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/cmd/ragflow/internal/screen"
	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
)

// call runs a command line in this process.
func call(ctx context.Context, t *testing.T, stdin io.Reader, stdout io.Writer, args ...string) (code int, stderr string) {
	t.Helper()
	t.Chdir(t.TempDir())
	data := t.TempDir()
	var errs bytes.Buffer
	code = run(ctx, args, stdin, stdout, &errs, []string{"XDG_DATA_HOME=" + data, "XDG_CONFIG_HOME=" + data})
	return code, errs.String()
}

// Waiting for standard input ends with the signal.
func TestInterrupted(t *testing.T) {
	stdin, w := io.Pipe()
	defer func() { _ = w.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, stderr := call(ctx, t, stdin, io.Discard, "ask", "-")
	if code != exitInterrupted || stderr != "ragflow: interrupted\n" {
		t.Errorf("exit code %d and %q, want %d and interrupted", code, stderr, exitInterrupted)
	}
}

func TestInterruptedRunSaysHowToResume(t *testing.T) {
	t.Parallel()
	err := failed("ask", &unfinishedError{context.Canceled, "ragflow ask --thread t-1 --resume"})
	f, ok := errors.AsType[*failure](interrupted(err, false))
	if !ok || f.code != exitInterrupted || f.hint != "go on with: ragflow ask --thread t-1 --resume" {
		t.Errorf("interrupted() = %+v", f)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// Output that could not be written is a failure, not a success.
func TestFullDisk(t *testing.T) {
	code, stderr := call(t.Context(), t, strings.NewReader(""), fullDisk{}, "version")
	if want := "ragflow: write the output: no space left on device\n"; code != exitFailure || stderr != want {
		t.Errorf("exit code %d and %q, want %d and %q", code, stderr, exitFailure, want)
	}
}

// Colours need a terminal, and give way to NO_COLOR and TERM=dumb.
func TestStyle(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		env      map[string]string
		terminal bool
		want     bool
	}{
		{"terminal", nil, true, true},
		{"NO_COLOR", map[string]string{"NO_COLOR": "1"}, true, false},
		{"empty NO_COLOR", map[string]string{"NO_COLOR": ""}, true, true},
		{"dumb terminal", map[string]string{"TERM": "dumb"}, true, false},
		{"pipe", nil, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			a := &app{out: bufio.NewWriter(&out), env: tt.env, isTerm: func(io.Writer) bool { return tt.terminal }}
			a.printHits(&ragflow.SearchReply{Query: "back up volumes", Hits: []ragflow.SearchHit{
				{Rank: 1, Chunk: state.Chunk{Source: "a.md", StartLine: 3, EndLine: 4, Headings: []string{"Volumes"}, Text: "A volume.\n\x1b[31mBackup"}},
			}})
			if err := a.out.Flush(); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(out.String(), "\x1b["+"1m"); got != tt.want {
				t.Errorf("styled = %v, want %v: %q", got, tt.want, out.String())
			}
			if strings.Contains(out.String(), "\x1b[31m") {
				t.Errorf("a document's escape sequence came through: %q", out.String())
			}
		})
	}
}

// A snippet is one line, its words of the query marked, and cannot command a terminal.
func TestMarked(t *testing.T) {
	t.Parallel()
	hit := ragflow.SearchHit{
		Chunk:   state.Chunk{Start: 10, End: 50},
		Snippet: ragflow.SnippetReply{Text: "keeps\ndata  \x1b[2J", Start: 12, End: 30, Marks: []search.Mark{{Start: 18, End: 22}}},
	}
	if got, want := marked(hit, screen.Style{On: true}), "…keeps \x1b[1;33mdata\x1b[0m ␛[2J…"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Every error of the library that a person can do something about has its exit
// code and a hint.
func TestMeaning(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		err  error
		want int
	}{
		{"empty query", ragflow.ErrEmptyQuery, exitUsage},
		{"unknown thread", graph.ErrNotFound, exitNotFound},
		{"missing folder", os.ErrNotExist, exitNotFound},
		{"no documents", ingest.ErrNoDocuments, exitFailure},
		{"nothing to resume", ragflow.ErrNothingToResume, exitFailure},
		{"busy thread", graph.ErrBusy, exitFailure},
		{"lost lease", graph.ErrSuperseded, exitFailure},
		{"moved head", graph.ErrConflict, exitFailure},
		{"changed graph", graph.ErrGraphChanged, exitFailure},
		{"step limit", &graph.StepLimitError{Limit: 25}, exitFailure},
		{"permission", os.ErrPermission, exitFailure},
		{"damaged database", ragflow.ErrDamaged, exitFailure},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := failed("ask", errors.Join(tt.err)) // wrapped, as the library does
			f, ok := errors.AsType[*failure](err)
			if !ok || f.code != tt.want || f.hint == "" {
				t.Errorf("failed(%v) = %+v, want code %d and a hint", tt.err, f, tt.want)
			}
		})
	}
}

func TestThreadMarkdownUnfinished(t *testing.T) {
	t.Parallel()
	talk := &threads.Thread{Info: threads.Info{ID: "work", Status: "running"}}
	if got := threadMarkdown(t.Context(), talk); !strings.Contains(got, "The last run is not finished (running). Go on with: ragflow ask --thread work --resume\n") {
		t.Errorf("an unfinished thread is shown as %q", got)
	}
	talk.Status = "completed"
	if got := threadMarkdown(t.Context(), talk); strings.Contains(got, "finished") {
		t.Errorf("a finished thread is shown as %q", got)
	}
}

func TestPickThread(t *testing.T) {
	t.Parallel()
	list := []threads.Info{{ID: "0198aaaa-1"}, {ID: "0198aaaa-2"}, {ID: "0198aaab-3"}, {ID: "user-12"}}
	for _, tt := range []struct {
		name, want string
		code       int
	}{
		{"last", "0198aaaa-1", 0},
		{"user-12", "user-12", 0},
		{"user", "", exitNotFound}, // only an id can be shortened
		{"0198aaab", "0198aaab-3", 0},
		{"0198aaaa", "", exitUsage},
		{"0198", "", exitNotFound},
		{"0198a", "", exitUsage},
		{"nobody", "", exitNotFound},
		{"", "", exitNotFound},
	} {
		t.Run("name "+tt.name, func(t *testing.T) {
			got, err := pickThread(list, tt.name)
			code := 0
			if f, ok := errors.AsType[*failure](err); ok {
				code = f.code
			}
			if got != tt.want || code != tt.code {
				t.Errorf("pickThread(%q) = %q, code %d; want %q, code %d", tt.name, got, code, tt.want, tt.code)
			}
		})
	}
	if _, err := pickThread(nil, lastName); err == nil {
		t.Error("pickThread(nil, last) found a thread")
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &progress{out: &out, terminal: true}
	begun := time.Now()
	p.reportAt(begun, ingest.Progress{Stage: "scanning", Done: 1})
	if out.Len() > 0 {
		t.Errorf("progress at once: %q", out.String())
	}
	p.reportAt(begun.Add(time.Second), ingest.Progress{Stage: "indexing", Done: 1, Total: 10})
	p.reportAt(begun.Add(5*time.Second), ingest.Progress{Stage: "indexing", Done: 4, Total: 10})
	p.end()
	want := "\r\x1b[Kindexing: 1 of 10 files …\r\x1b[Kindexing: 4 of 10 files, about 6s left …\r\x1b[K"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Every command that is listed has a help text with a description and examples.
func TestHelpOfEveryCommand(t *testing.T) {
	t.Parallel()
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "completion" || c.Name() == "help" {
			return
		}
		if c.Short == "" || c.Example == "" || !strings.Contains(c.Example, "ragflow ") {
			t.Errorf("%s: no line for the list of commands, or no examples in help", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	root, _ := newApp(nil, io.Discard, io.Discard, nil).root(newGiven())
	check(root)
}
