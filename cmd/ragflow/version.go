package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionReply is the schema of "ragflow version --json".
type versionReply struct {
	Version  string `json:"version"`  // of the module
	Revision string `json:"revision"` // of the source; "+changes" where the tree was not clean; empty where unknown
	Time     string `json:"time"`     // of the revision; empty where unknown
	Go       string `json:"go"`
	Platform string `json:"platform"`
	SQLite   string `json:"sqlite"` // the driver built in, and its version
}

func (a *app) versionCommand() *cobra.Command {
	c := &cobra.Command{
		Use:  "version",
		Args: argsBetween(0, 0),
		RunE: func(*cobra.Command, []string) error {
			v := readVersion()
			return a.print(v, func() {
				fmt.Fprintf(a.out, "ragflow %s\n", v.Version)
				if v.Revision != "" {
					fmt.Fprintf(a.out, "revision %s, %s\n", v.Revision, v.Time)
				}
				fmt.Fprintf(a.out, "%s, %s\nsqlite driver %s\n", v.Go, v.Platform, v.SQLite)
			})
		},
	}
	a.jsonFlag(c)
	return c
}

// readVersion reads what the linker wrote into this program.
func readVersion() versionReply {
	v := versionReply{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, SQLite: "(unknown)"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	changed := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			changed = s.Value == "true"
		}
	}
	if changed && v.Revision != "" {
		v.Revision += "+changes"
	}
	for _, d := range info.Deps { // only what is linked in stands here
		if d.Path == "github.com/mattn/go-sqlite3" || d.Path == "modernc.org/sqlite" {
			v.SQLite = d.Path + " " + d.Version
		}
	}
	return v
}
