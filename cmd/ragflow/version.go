package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

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
	licenses, sbom := false, false
	c := command("version", 0, func(*cobra.Command, []string) error {
		if sbom {
			a.asJSON = true // the form has no other
			return a.print(materials(), nil)
		}
		if licenses {
			list := moduleLicenses()
			return a.print(list, func() {
				for _, m := range list {
					fmt.Fprintf(a.out, "%s %s %s\n", m.Module, m.Version, m.License)
				}
			})
		}
		v := readVersion()
		return a.print(v, func() {
			fmt.Fprintf(a.out, "ragflow %s\n", v.Version)
			if v.Revision != "" {
				fmt.Fprintf(a.out, "revision %s, %s\n", v.Revision, v.Time)
			}
			fmt.Fprintf(a.out, "%s, %s\nsqlite driver %s\n", v.Go, v.Platform, v.SQLite)
		})
	})
	a.jsonFlag(c)
	c.Flags().BoolVar(&licenses, "licenses", false, "list the modules built in, with their licences")
	c.Flags().BoolVar(&sbom, "sbom", false, "list them as a bill of materials in CycloneDX, as JSON")
	return c
}

// licenseList has a line "PATH LICENCE" for each part of a module with a licence of its
// own, by the names of SPDX. The licences of the modules of all platforms stand there.
//
//go:embed licenses.txt
var licenseList string

// moduleLicense is one line of "ragflow version --licenses".
type moduleLicense struct {
	Module  string `json:"module"`
	Version string `json:"version"`
	License string `json:"license"` // several separated by a comma
}

// moduleLicenses lists the modules that are linked into this program, and the data of
// others that it holds.
func moduleLicenses() []moduleLicense {
	out := []moduleLicense{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return out
	}
	for _, d := range info.Deps {
		out = append(out, moduleLicense{d.Path, d.Version, licensesOf(d.Path)})
	}
	return append(
		out,
		moduleLicense{"sentence-transformers/all-MiniLM-L6-v2, vectors of words", "2021", "Apache-2.0"},
		moduleLicense{"WordNet, opposites", "3.1", "WordNet (notice in skills/cite/opposites.txt)"},
	)
}

// licensesOf returns the licences of a module, or "unknown".
func licensesOf(module string) string {
	var found []string
	for l := range strings.Lines(licenseList) {
		path, license, _ := strings.Cut(strings.TrimSpace(l), " ")
		if (path == module || strings.HasPrefix(path, module+"/")) && !slices.Contains(found, license) {
			found = append(found, license)
		}
	}
	return cmp.Or(strings.Join(found, ", "), "unknown")
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
