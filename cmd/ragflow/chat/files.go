package chat

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"example.com/ragflow"
)

// open shows a source of the last answer in the person's editor or pager, or
// says where it stands where there is none.
func (s *session) open(ctx context.Context, args string) error {
	if s.last == nil {
		return s.noAnswer()
	}
	n, err := strconv.Atoi(strings.Trim(args, "[]"))
	if err != nil {
		return errors.New("say which source: /open 1")
	}
	for _, c := range s.last.Citations {
		if c.N == n {
			if c.IsChanged(ctx) {
				s.warn(s.last.ChangedNotice)
			}
			return s.openAt(ctx, c)
		}
	}
	return fmt.Errorf("the last answer has no source %d; /sources lists them", n)
}

func (s *session) openAt(ctx context.Context, c ragflow.CitationReply) error {
	program := ""
	for _, name := range []string{"VISUAL", "EDITOR", "PAGER"} {
		if program == "" {
			program = strings.TrimSpace(s.Env[name])
		}
	}
	if program == "" || s.Terminal == nil || c.StartLine == 0 { // editors show lines
		s.say(Place(oneLine(c.Path), []ragflow.CitationReply{c}))
		return nil
	}
	args := editorArgs(strings.Fields(program), c.Path, c.StartLine)
	err := s.Terminal.released(func(in, out *os.File) error {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, out
		return cmd.Run()
	})
	if err != nil {
		return fmt.Errorf("open %s with %s: %w", c.Path, args[0], err)
	}
	return nil
}

// editorArgs is the command line that opens a file at a line.
func editorArgs(program []string, path string, line int) []string {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(program[0])), ".exe")
	at := fmt.Sprintf("%s:%d", path, line)
	switch name {
	case "code", "code-insiders", "codium", "cursor", "windsurf":
		return append(program, "--goto", at)
	case "subl", "zed", "hx", "helix":
		return append(program, at)
	case "vi", "vim", "nvim", "gvim", "view", "nano", "pico", "emacs", "emacsclient", "kak", "micro", "joe", "ne", "less", "more", "most":
		return append(program, "+"+strconv.Itoa(line), path)
	}
	return append(program, path) // one that we do not know may not know lines
}

// trace shows what each node of the last run did, or writes the run's files.
func (s *session) trace(ctx context.Context, dir string) error {
	if s.last == nil {
		return s.noAnswer()
	}
	if dir != "" {
		return s.writeTrace(ctx, dir)
	}
	run, err := s.Threads.Run(ctx, s.last.RunID)
	if err != nil {
		return err
	}
	for _, commit := range slices.Backward(run.Commits) { // newest first
		for _, d := range commit.Deltas {
			if d.Node == "" {
				continue
			}
			var details []string
			for _, x := range d.Notes.Details {
				details = append(details, x.Key+" "+x.Value)
			}
			if d.Error != "" {
				details = append(details, "error "+d.Error)
			}
			took := fmt.Sprintf("%7.1f ms", float64(d.Notes.Duration)/float64(time.Millisecond))
			head := fmt.Sprintf("  %-23s", oneLine(d.Node))
			about := oneLine(strings.Join(details, ", "))
			if room := s.width() - 25 - 12; room >= 20 {
				s.say(head + s.dim(strings.TrimRight(took+"  "+s.clip(about, room), " ")))
				continue
			}
			s.say(head, s.dim("  "+s.clip(took+"  "+about, s.width()-2)))
		}
	}
	s.hint("run " + s.last.RunID + "; /trace DIR writes all of it")
	s.say("")
	return nil
}

func (s *session) writeTrace(ctx context.Context, dir string) error {
	answer, flow, err := s.Assistant.Trace(ctx, s.last.RunID)
	if err != nil {
		return err
	}
	dir = s.typed(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write the trace: %w", err)
	}
	for _, f := range []struct{ name, text string }{{"answer.md", answer}, {"flow_trace.md", flow}} {
		path := filepath.Join(dir, f.name)
		if err := os.WriteFile(path, []byte(f.text), 0o644); err != nil {
			return fmt.Errorf("write the trace: %w", err)
		}
		s.hint("wrote " + path)
	}
	s.say("")
	return nil
}

// export writes the conversation to a file that does not exist yet.
func (s *session) export(ctx context.Context, path string) error {
	if s.thread == "" {
		return errors.New("there is no conversation to write yet")
	}
	t, err := s.Threads.Thread(ctx, s.thread)
	if err != nil {
		return err
	}
	if path == "" {
		path = fileName(t.Title) + ".md"
	}
	path = s.typed(path)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is already there; give another name: /export FILE", path)
	}
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	_, err = f.WriteString(s.Markdown(ctx, t))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	s.hint("wrote " + path)
	s.say("")
	return nil
}

// typed is a path as a person types it: ~/ is the home folder.
func (s *session) typed(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && s.Env["HOME"] != "" {
		return filepath.Join(s.Env["HOME"], rest)
	}
	return path
}

// longestName is how many runes of a title a file's name has.
const longestName = 40

// fileName makes a name for a file of a title: words joined by hyphens.
func fileName(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
	name := ""
	for _, w := range words {
		if len([]rune(name))+1+len([]rune(w)) > longestName {
			break
		}
		name = strings.TrimPrefix(name+"-"+w, "-")
	}
	if name == "" {
		return "conversation"
	}
	return name
}
