package main

import (
	"fmt"
	"log/slog"
	"os"

	"golang.org/x/term"

	"example.com/ragflow/internal/settings"
)

// input is where the settings of this call come from.
func (a *app) input(g *given) settings.Input {
	return settings.Input{Env: a.env, Flags: g.settings, Offline: g.offline, Collection: g.collection}
}

// load reads the settings, also those that lack trust, and prints what to know about them.
func (a *app) load(in settings.Input) (*settings.Settings, error) {
	s, notices, err := settings.Load(in)
	for _, n := range notices {
		a.warnOnce(string(n))
	}
	if err != nil {
		return nil, failed("", err)
	}
	s.Config.Logger = slog.New(warnings{app: a})
	return s, nil
}

// readSettings reads the settings of this call, also those that lack trust.
func (a *app) readSettings(g *given) (*settings.Settings, error) { return a.load(a.input(g)) }

// trusted reads the settings. If a file of the project sets something that needs trust, the
// person is asked at a terminal, and the command is refused elsewhere.
func (a *app) trusted(in settings.Input) (*settings.Settings, error) {
	s, err := a.load(in)
	if err != nil {
		return nil, err
	}
	if refused := s.CheckTrust(); refused != nil {
		if !a.askTrust(s) {
			return nil, failed("", refused)
		}
		if _, err := s.Trust(); err != nil {
			return nil, failed("", err)
		}
		if s, err = a.load(in); err != nil {
			return nil, err
		}
	}
	return s, failed("", s.CheckTrust())
}

// askTrust shows what untrusted files set, and databases that came with them, and asks once.
func (a *app) askTrust(s *settings.Settings) bool {
	in, ok := a.in.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) || !a.isTerm(a.err) || a.quiet {
		return false
	}
	question := "Their answers may be made up, and they may be broken on purpose."
	if refused := s.Refusals(); len(refused) > 0 {
		question = "They can send your questions, documents and keys elsewhere."
		fmt.Fprintln(a.err, "Files of this project set what you have not trusted:")
		for _, r := range refused {
			fmt.Fprintf(a.err, "  %s  %s\n", line(r.Source), r.Name)
		}
	}
	if s.Foreign != "" {
		fmt.Fprintf(a.err, "Databases were not made here:\n  %s\n", line(s.Foreign))
	}
	fmt.Fprint(a.err, question+" Trust them as they are now? [y/N] ")
	var typed []byte
	for b := make([]byte, 1); ; { // no more than the line: the rest belongs to the command
		n, err := in.Read(b)
		if n == 0 || err != nil || b[0] == '\n' {
			break
		}
		typed = append(typed, b...)
	}
	return isYes(string(typed))
}
