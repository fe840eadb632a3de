package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/termmd"
	"example.com/ragflow/threads"
	"example.com/ragflow/transcript"
)

// commandInfo is one command, as /help shows it.
type commandInfo struct {
	name, args, help string
	do               func(s *session, ctx context.Context, args string) error
}

// commands lists the commands there are, in the order of /help.
func (s *session) commands() []commandInfo {
	list := []commandInfo{
		{"new", "", "begin a new conversation", (*session).newThread},
		{"threads", "[N|ID]", "list conversations, or go on with one", (*session).threads},
		{"sources", "", "show what the last answer quotes", (*session).sources},
		{"retry", "", "ask the last question again", (*session).retry},
		{"undo", "", "take the last question and its answer back", (*session).undo},
		{"docs", "", "read what changed, and show what is answered from", (*session).docs},
		{"model", "", "show what answers", (*session).model},
		{"help", "", "show this list", (*session).help},
		{"quit", "", "leave; so does Ctrl-D", (*session).quit},
	}
	return slices.DeleteFunc(list, func(c commandInfo) bool { return c.name == "undo" && s.Undo == nil })
}

// command takes a line that begins with a slash apart. "/etc/hosts is …" is a
// question.
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
	for _, c := range s.commands() {
		if c.name == name {
			if c.args == "" && args != "" {
				return fmt.Errorf("/%s takes no argument", name)
			}
			return c.do(s, ctx, args)
		}
	}
	if use := droppedCommands()[name]; use != "" {
		return fmt.Errorf("/%s is no longer there; use: %s", name, use)
	}
	return fmt.Errorf("unknown command /%s; /help lists the commands", oneLine(name))
}

// droppedCommands says what replaces the commands of earlier versions.
func droppedCommands() map[string]string {
	return map[string]string{
		"open": "/sources, which names files and lines", "trace": "ragflow trace last", "export": "ragflow threads show last > FILE",
	}
}

// complete completes the name of a command.
func (s *session) complete(text string) []string {
	start, found := strings.CutPrefix(text, "/")
	if !found || strings.ContainsAny(start, " \n") {
		return nil
	}
	var out []string
	for _, c := range s.commands() {
		if strings.HasPrefix(c.name, start) {
			out = append(out, "/"+c.name)
		}
	}
	return out
}

func (s *session) help(context.Context, string) error {
	const column = 16
	for _, c := range s.commands() {
		name := strings.TrimSpace("/" + c.name + " " + c.args)
		if s.width() < 60 {
			s.say(s.bold(name))
			for _, l := range termmd.Wrap(c.help, s.width()-2) {
				s.say(s.dim("  " + l))
			}
			continue
		}
		s.say("  " + s.bold(name) + strings.Repeat(" ", max(column-len(name), 2)) + s.dim(c.help))
	}
	if s.Size != nil {
		s.say("")
		s.hint("Ctrl-J, or a backslash at the end of a line, begins a new line. Pasted lines stay together. " +
			"Up and Ctrl-R bring back what you typed before; Tab completes commands. Ctrl-C stops an answer.")
	}
	s.say("")
	return nil
}

func (*session) quit(context.Context, string) error { return errQuit }

func (s *session) newThread(context.Context, string) error {
	s.thread, s.last, s.asked = "", nil, ""
	s.hint("a new conversation")
	s.say("")
	return nil
}

// threads lists conversations, or goes on with one of them.
func (s *session) threads(ctx context.Context, args string) error {
	list, err := s.Threads.List(ctx)
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
		about := fmt.Sprintf("%s, %s", count(t.Turns, "turn"), when(t.Used))
		s.say(fmt.Sprintf("%s%2d  %s", mark, i+1, s.clip(oneLine(t.Title), s.width()-6)), "      "+s.dim(about))
	}
	if len(list) > 0 {
		s.hint("/threads N goes on with one of them")
	}
	s.say("")
	return nil
}

// goOn changes to the conversation that a number of the list or a name (see Config.Pick)
// means.
func (s *session) goOn(ctx context.Context, list []threads.Info, name string) error {
	var id string
	n, err := strconv.Atoi(name)
	if err == nil && n >= 1 && n <= len(s.listed) {
		id = s.listed[n-1]
	} else if id, err = s.Pick(list, name); err != nil {
		return fmt.Errorf("%w; /threads lists them", err)
	}
	s.thread, s.last, s.asked = id, nil, ""
	s.introduce(ctx)
	return nil
}

// noAnswer is why a command that is about the last answer cannot work.
func (s *session) noAnswer() error {
	if s.cut {
		return errors.New("the last question was not answered; /retry asks again")
	}
	return errors.New("nothing was asked in this conversation yet")
}

func (s *session) sources(ctx context.Context, _ string) error {
	if s.last == nil {
		return s.noAnswer()
	}
	if len(s.last.Citations) == 0 {
		s.hint("the last answer quotes nothing")
	}
	for _, group := range grouped(s.last.Citations) {
		s.say(s.source(group)...)
		if slices.ContainsFunc(group, func(c ragflow.CitationReply) bool { return c.IsChanged(ctx) }) {
			s.say("      " + s.last.ChangedNotice)
		}
		for _, c := range group {
			for _, l := range termmd.Wrap(transcript.Visible(c.Quote), s.width()-8) {
				s.say(strings.TrimRight("      "+s.dim("│ ")+l, " "))
			}
		}
		s.say("")
	}
	return nil
}

func (s *session) model(ctx context.Context, _ string) error {
	for _, m := range s.Models(ctx) {
		if s.Size == nil {
			s.say(oneLine(m))
			continue
		}
		s.say(termmd.Wrap(oneLine(m), s.width())...)
	}
	s.say("")
	return nil
}

// docs brings the index up to date and shows what it holds.
func (s *session) docs(ctx context.Context, _ string) error {
	var report *ingest.Report
	err := Interruptible(ctx, s.Interrupts, func(ctx context.Context) error {
		var err error
		report, err = s.Assistant.Index(ctx)
		return err
	})
	if err != nil {
		return err
	}
	for _, root := range report.Roots {
		s.say(s.shown(root, root))
	}
	news := "nothing changed"
	if report.Added+report.Changed+report.Removed > 0 {
		news = fmt.Sprintf("%d new, %d changed, %d removed", report.Added, report.Changed, report.Removed)
	}
	s.hint(fmt.Sprintf("%s in %s; %s", count(report.Chunks, "passage"), count(report.Files, "file"), news))
	for _, p := range report.Failed {
		s.warn("could not read " + p.Source + ": " + p.Reason)
	}
	s.say("")
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
	s.hint("taken back: " + s.clip(oneLine(question), s.width()-12))
	s.say("")
	return s.recall(ctx)
}

// retry asks the last question anew, in place of the turn it made.
func (s *session) retry(ctx context.Context, _ string) error {
	if s.asked == "" {
		return errors.New("there is no question to ask again")
	}
	question := s.asked
	if s.thread != "" && s.Undo != nil {
		if _, err := s.Undo(ctx, s.thread); err != nil {
			return err
		}
	}
	if s.Size != nil {
		s.hint("asking again: " + s.clip(oneLine(question), s.width()-14))
	}
	return s.ask(ctx, question)
}
