package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/ragflow/ingest"
)

// doctorReply is the schema of "ragflow doctor --json".
type doctorReply struct {
	OK      bool                     `json:"ok"` // nothing is broken
	Version versionReply             `json:"version"`
	DataDir string                   `json:"data_dir"`
	Index   []ingest.CollectionStats `json:"index"`
	Threads int                      `json:"threads"`
	Checks  []checkReply             `json:"checks"`
	Hints   []string                 `json:"hints"`
}

// checkReply is the outcome of one check.
type checkReply struct {
	Name    string   `json:"name"`
	Status  string   `json:"status"` // ok, warning or broken
	About   string   `json:"about"`
	Details []string `json:"details"`
}

const (
	slowAnswer = 500 * time.Millisecond // a hint is given above it (REQUIREMENTS Z17)
	probeFor   = 10 * time.Second       // for an answer of a provider

	checkOK      = "ok"
	checkWarning = "warning"
	checkBroken  = "broken"
)

// errBroken ends a doctor that found something; what it is has been said.
var errBroken = errors.New("something is broken")

func (a *app) doctorCommand() *cobra.Command {
	c := command("doctor", 0, func(c *cobra.Command, _ []string) error {
		d := &doctor{app: a}
		d.Version = readVersion()
		d.examine(c.Context())
		if err := c.Context().Err(); err != nil {
			return err
		}
		if err := a.print(d.doctorReply, d.print); err != nil {
			return err
		}
		if !d.OK {
			return errBroken
		}
		return nil
	})
	a.jsonFlag(c)
	return c
}

// doctor is one examination.
type doctor struct {
	doctorReply

	app      *app
	settings *settings
}

// print shows the examination to a person.
func (d *doctor) print() {
	a, v := d.app, d.Version
	s := a.styleOf(a.stdout)
	fmt.Fprintf(a.out, "%s\n", s.bold("ragflow "+v.Version))
	fmt.Fprintf(a.out, "%s\n\n", s.dim(fmt.Sprintf("%s, %s, sqlite driver %s", v.Go, v.Platform, v.SQLite)))
	for _, c := range d.Checks {
		colour := map[string]string{checkOK: "32", checkWarning: "33", checkBroken: "1;31"}[c.Status]
		status := s.wrap(colour, fmt.Sprintf("%-7s", c.Status))
		fmt.Fprintf(a.out, "%s  %-13s  %s\n", status, c.Name, line(c.About))
		for _, detail := range c.Details {
			fmt.Fprintf(a.out, "%24s%s\n", "", s.dim(line(detail)))
		}
	}
	if len(d.Hints) > 0 {
		fmt.Fprintf(a.out, "\n%s\n", s.bold("Hints"))
	}
	for _, h := range d.Hints {
		fmt.Fprintf(a.out, "- %s\n", strings.TrimSpace(line(h)))
	}
}
