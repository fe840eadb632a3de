package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (*app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages",
		Long: `Write the manual pages of ragflow and of each of its commands into a folder, for
packagers: ragflow.1, ragflow-ask.1 and so on.`,
		Example: `  ragflow man ./man && man ./man/ragflow.1`,
		Hidden:  true,
		Args:    argsBetween(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return failed("write manual pages", err)
			}
			return writeManual(c.Root(), args[0])
		},
	}
}

// writeManual writes the page of a command, and of those below it.
func writeManual(c *cobra.Command, dir string) error {
	if !c.IsAvailableCommand() && c.HasParent() {
		return nil
	}
	name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(manPage(c)), 0o644); err != nil {
		return failed("write manual pages", err)
	}
	for _, sub := range c.Commands() {
		if err := writeManual(sub, dir); err != nil {
			return err
		}
	}
	return nil
}

// manPage is the manual page of a command, in the man macros of roff.
func manPage(c *cobra.Command) string {
	var b strings.Builder
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH \"%s\" \"1\" \"\" \"ragflow\" \"User Commands\"\n", strings.ToUpper(roff(name)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(c.UseLine()))
	b.WriteString(".SH DESCRIPTION\n")
	for i, paragraph := range strings.Split(strings.TrimSpace(c.Long), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		for l := range strings.SplitSeq(paragraph, "\n") {
			b.WriteString(roffLine(l) + "\n")
		}
	}
	manCommands(&b, c)
	manFlags(&b, "OPTIONS", c.NonInheritedFlags())
	manFlags(&b, "OPTIONS OF ALL COMMANDS", c.InheritedFlags())
	if c.Example != "" {
		b.WriteString(".SH EXAMPLES\n.nf\n")
		for l := range strings.SplitSeq(c.Example, "\n") {
			b.WriteString(roffLine(strings.TrimPrefix(l, "  ")) + "\n")
		}
		b.WriteString(".fi\n")
	}
	if !c.HasParent() {
		b.WriteString(".SH EXIT STATUS\n")
		for _, e := range [][2]string{
			{"0", "done"},
			{"1", "failed"},
			{"2", "wrong usage or a bad setting"},
			{"3", "not found: thread, run, file or folder"},
			{"4", "no answer, with --fail-on-no-answer"},
			{"130", "interrupted"},
			{"143", "ended by SIGTERM, after the step under way was saved"},
		} {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", e[0], roff(e[1]))
		}
	}
	if c.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", roff(strings.ReplaceAll(c.Parent().CommandPath(), " ", "-")))
	}
	return b.String()
}

// manCommands lists the commands below a command.
func manCommands(b *strings.Builder, c *cobra.Command) {
	if !c.HasAvailableSubCommands() {
		return
	}
	b.WriteString(".SH COMMANDS\n")
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			fmt.Fprintf(b, ".TP\n.BR %s (1)\n%s\n", roff(strings.ReplaceAll(sub.CommandPath(), " ", "-")), roff(sub.Short))
		}
	}
}

// manFlags lists flags under a heading.
func manFlags(b *strings.Builder, heading string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", heading)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		names := "--" + f.Name
		if f.Shorthand != "" {
			names = "-" + f.Shorthand + ", " + names
		}
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR", roff(names))
		if value != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
		}
		fmt.Fprintf(b, "\n%s\n", roffLine(usage))
	})
}

// roff writes a text so that it stands in a page as it is.
func roff(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "^", `\(ha`, "~", `\(ti`, "`", `\(ga`, `"`, `\(dq`, "\n", " ").Replace(s)
}

// roffLine is roff for a whole line: a dot at its beginning is no command.
func roffLine(s string) string {
	s = roff(s)
	if strings.HasPrefix(s, ".") {
		return `\&` + s
	}
	return s
}
