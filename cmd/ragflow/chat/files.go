package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

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

// editorArgs is the command line that opens a file at a line; at its beginning with
// programs that are not known to take one.
func editorArgs(program []string, path string, line int) []string {
	switch strings.TrimSuffix(strings.ToLower(filepath.Base(program[0])), ".exe") {
	case "code", "codium", "cursor":
		return append(program, "--goto", fmt.Sprintf("%s:%d", path, line))
	case "vi", "vim", "nvim", "nano", "emacs", "emacsclient", "kak", "micro", "less", "more":
		return append(program, "+"+strconv.Itoa(line), path)
	}
	return append(program, path)
}

// trace writes answer.md and flow_trace.md of the last run.
func (s *session) trace(ctx context.Context, dir string) error {
	if s.last == nil {
		return s.noAnswer()
	}
	answer, flow, err := s.Assistant.Trace(ctx, s.last.RunID)
	if err != nil {
		return err
	}
	dir = s.typed(cmp.Or(dir, "output"))
	paths, err := s.WriteTrace(dir, answer, flow)
	if err != nil {
		return fmt.Errorf("write the trace: %w", err)
	}
	for _, path := range paths {
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
	if path == "" {
		return errors.New("say where to: /export conversation.md")
	}
	t, err := s.Threads.Thread(ctx, s.thread)
	if err != nil {
		return err
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
