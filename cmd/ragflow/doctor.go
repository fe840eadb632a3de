package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
)

// doctorReply is the schema of "ragflow doctor --json".
type doctorReply struct {
	OK        bool                      `json:"ok"` // nothing is broken
	Version   versionReply              `json:"version"`
	DataDir   string                    `json:"data_dir"`
	Files     []fileReply               `json:"files"`      // of the data folder
	FreeBytes int64                     `json:"free_bytes"` // on its disk; -1 where unknown
	Index     []ragflow.CollectionStats `json:"index"`
	Threads   int                       `json:"threads"`
	Models    []modelReply              `json:"models"` // that are configured
	Settings  []settingRow              `json:"settings"`
	Checks    []checkReply              `json:"checks"`
	Hints     []string                  `json:"hints"`
}

// fileReply is a file of the data folder.
type fileReply struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// modelReply is a configured model, and whether it can be used.
type modelReply struct {
	Setting string  `json:"setting"`
	Model   string  `json:"model"`
	BaseURL string  `json:"base_url"`
	OK      bool    `json:"ok"`
	Error   string  `json:"error"`
	TookMS  float64 `json:"took_ms"`
}

// checkReply is the outcome of one check.
type checkReply struct {
	Name    string   `json:"name"`
	Status  string   `json:"status"` // ok, warning or broken
	About   string   `json:"about"`
	Details []string `json:"details"`
}

// The outcomes of a check.
const (
	checkOK      = "ok"
	checkWarning = "warning"
	checkBroken  = "broken"
)

// errBroken ends a doctor that found something; what it is has been said.
var errBroken = errors.New("something is broken")

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check that everything is in order, and say what to do where it is not",
		Long: `Check settings, data folder, disk, index, conversations and models, and say what
to do where something is not in order. Nothing is changed. Models are asked
which models they serve, which costs nothing; a reranker scores the word "test".
No text of yours is sent.

The exit code is 1 where something is broken.`,
		Example: `  ragflow doctor
  ragflow doctor --json | jq -r '.checks[] | select(.status != "ok")'`,
		Args: argsBetween(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			d := &doctor{app: a}
			d.Version = readVersion()
			d.examine(c.Context())
			if err := c.Context().Err(); err != nil {
				return err
			}
			if asJSON {
				if err := a.writeJSON(d.doctorReply); err != nil {
					return err
				}
			} else {
				d.print()
			}
			if !d.OK {
				return errBroken
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object instead of text")
	return c
}

// doctor is one examination.
type doctor struct {
	doctorReply

	app      *app
	settings *settings
}

// note records what a check found.
func (d *doctor) note(status, name, about string, details ...string) {
	d.Checks = append(d.Checks, checkReply{name, status, about, append([]string{}, details...)})
}

func (d *doctor) hint(format string, args ...any) {
	d.Hints = append(d.Hints, fmt.Sprintf(format, args...))
}

// examine makes all checks. One that fails does not keep the others from being
// made.
func (d *doctor) examine(ctx context.Context) {
	d.Files, d.Index, d.Models, d.FreeBytes = []fileReply{}, []ragflow.CollectionStats{}, []modelReply{}, -1
	d.Settings, d.Checks, d.Hints = []settingRow{}, []checkReply{}, []string{}
	if d.checkSettings() {
		d.checkDocs()
		d.checkData()
		d.checkDatabases(ctx)
		d.checkModels(ctx)
	}
	d.OK = true
	for _, c := range d.Checks {
		d.OK = d.OK && c.Status != checkBroken
	}
}

// print shows the examination to a person.
func (d *doctor) print() {
	a, v := d.app, d.Version
	s := a.styleOf(a.stdout)
	fmt.Fprintf(a.out, "%s\n", s.bold("ragflow "+v.Version))
	fmt.Fprintf(a.out, "%s\n\n", s.dim(fmt.Sprintf("%s, %s, sqlite driver %s", v.Go, v.Platform, v.SQLite)))
	for _, c := range d.Checks {
		status := fmt.Sprintf("%-7s", c.Status)
		switch c.Status {
		case checkOK:
			status = s.wrap("32", status)
		case checkWarning:
			status = s.wrap("33", status)
		case checkBroken:
			status = s.wrap("1;31", status)
		}
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
