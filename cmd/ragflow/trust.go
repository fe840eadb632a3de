package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func (a *app) trustCommand(g *given) *cobra.Command {
	return command("trust [DIR]", 1, func(_ *cobra.Command, args []string) error {
		dir, err := filepath.Abs(append(args, ".")[0])
		if err != nil {
			return failed("find the working folder", err)
		}
		if info, err := os.Stat(dir); err != nil {
			return failed("trust", err)
		} else if !info.IsDir() {
			return usagef("%s is not a folder", args[0])
		}
		in := a.input(g)
		in.Dir = dir
		s, err := a.load(in)
		if err != nil {
			return err
		}
		done, err := s.Trust()
		if err != nil {
			return failed("", err)
		}
		if len(done) == 0 {
			a.tell("nothing to trust: no .env and no .ragflow/config.yaml in or above %s", dir)
		}
		for _, d := range done {
			fmt.Fprintln(a.out, "trusted "+line(d))
		}
		return nil
	})
}
