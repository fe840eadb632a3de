package chat

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"example.com/ragflow/cmd/ragflow/internal/screen"
	"example.com/ragflow/internal/termmd"
	"example.com/ragflow/threads"
)

// commandInfo is one command, as /help shows it.
type commandInfo struct {
	name, args, help string
	do               func(s *session, ctx context.Context, args string) error
}

// commands lists the commands there are, in the order of /help.
func commands() []commandInfo {
	return []commandInfo{
		{"new", "", "begin a new conversation", (*session).newThread},
		{"threads", "[N|ID]", "list conversations, or go on with one", (*session).threads},
		{"sources", "", "show the passages of all sources of the last answer", (*session).allSources},
		{"more", "", "show those that it does not cite", (*session).more},
		{"undo", "", "take the last question and its answer back", (*session).undo},
		{"help", "", "show this list", (*session).help},
		{"quit", "", "leave; so does Ctrl-D", (*session).quit},
	}
}

// command splits a line that begins with a slash. "/etc/hosts is …" is a question.
func command(text string) (name, args string, ok bool) {
	rest, found := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !found || strings.Contains(rest, "\n") {
		return "", "", false
	}
	name, args, _ = strings.Cut(rest, " ")
	if strings.Contains(name, "/") {
		return "", "", false
	}
	return name, strings.TrimSpace(args), true
}

// command carries a command out.
func (s *session) command(ctx context.Context, name, args string) error {
	for _, c := range commands() {
		if c.name == name {
			if c.args == "" && args != "" {
				return fmt.Errorf("/%s takes no argument", name)
			}
			return c.do(s, ctx, args)
		}
	}
	var names []string
	for _, c := range commands() {
		names = append(names, "/"+c.name)
	}
	return fmt.Errorf("%w /%s; there are: %s", errUnknown, screen.Line(name), strings.Join(names, ", "))
}

func (s *session) help(context.Context, string) error {
	const column = len("  /threads [N|ID]")
	for _, c := range commands() {
		name := strings.TrimSpace("/" + c.name + " " + c.args)
		if s.width() < 60 {
			s.say(s.Style.Bold(name))
			for _, l := range termmd.Wrap(c.help, s.width()-2) {
				s.say(s.Style.Dim("  " + l))
			}
			continue
		}
		s.say("  " + s.Style.Bold(name) + strings.Repeat(" ", max(column-len(name), 2)) + s.Style.Dim(c.help))
	}
	if s.Size != nil {
		s.say("")
		s.hint("Ctrl-J, or a backslash at the end of a line, begins a new line. Pasted lines stay together. " +
			"Up and Ctrl-R bring back what you typed before. Ctrl-C stops an answer.")
	}
	s.say("")
	return nil
}

func (*session) quit(context.Context, string) error { return errQuit }

func (s *session) newThread(context.Context, string) error {
	s.thread, s.last = "", nil
	s.hint("a new conversation")
	s.say("")
	return nil
}

// threads lists conversations, or continues one of them.
func (s *session) threads(ctx context.Context, args string) error {
	list, err := s.Threads.All(ctx)
	if err != nil {
		return err
	}
	if args != "" {
		return s.goOn(ctx, list, args)
	}
	s.listed = nil
	if len(list) == 0 {
		s.hint("no conversations yet")
	}
	for i, t := range list {
		s.listed = append(s.listed, t.ID)
		mark := "  "
		if t.ID == s.thread {
			mark = s.accent("›") + " "
		}
		about := fmt.Sprintf("%s, %s", screen.Count(t.Turns, "turn"), when(t.Used))
		s.say(fmt.Sprintf("%s%2d  %s", mark, i+1, s.clip(screen.Line(t.Title), s.width()-6)), "      "+s.Style.Dim(about))
	}
	if len(list) > 0 {
		s.hint("/threads N goes on with one of them")
	}
	s.say("")
	return nil
}

// goOn changes to a conversation, by its number in the list or by a name (see Config.Pick).
func (s *session) goOn(ctx context.Context, list []threads.Info, name string) error {
	var id string
	n, err := strconv.Atoi(name)
	if err == nil && n >= 1 && n <= len(s.listed) {
		id = s.listed[n-1]
	} else if id, err = s.Pick(list, name); err != nil {
		return fmt.Errorf("%w; /threads lists them", err)
	}
	s.thread, s.last = id, nil
	s.introduce(ctx)
	return nil
}

// allSources shows the passages of all sources that were found for the last answer.
func (s *session) allSources(ctx context.Context, _ string) error {
	if s.last != nil {
		for _, group := range grouped(s.last.Citations) {
			s.say(append([]string{s.source(group)}, passages(group)...)...)
		}
	}
	return s.more(ctx, "")
}

// more shows the passages that the last answer does not cite.
func (s *session) more(context.Context, string) error {
	switch {
	case s.last == nil:
		return errors.New("nothing was asked yet in this session")
	case len(s.last.Others) == 0:
		s.hint("no other sources were found")
		s.say("")
	default:
		s.say(s.others(s.last, true)[1:]...) // without the line that parts them from an answer
	}
	return nil
}

// undo takes the last turn back.
func (s *session) undo(ctx context.Context, _ string) error {
	if s.thread == "" {
		return errors.New("there is nothing to take back")
	}
	question, err := s.Undo(ctx, s.thread)
	if err != nil {
		return err
	}
	s.last = nil
	s.hint("taken back: " + s.clip(screen.Line(question), s.width()-12))
	s.say("")
	return nil
}
