package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestLicenses wants a licence for each module that the program links on any platform, and
// none that asks more of a user than to name its authors.
func TestLicenses(t *testing.T) {
	free := []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}
	for _, env := range []string{"CGO_ENABLED=1", "CGO_ENABLED=0", "GOOS=windows", "GOOS=darwin"} {
		list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
		list.Env = append(os.Environ(), env)
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		modules := strings.Fields(string(out))
		slices.Sort(modules)
		for _, m := range slices.Compact(modules) {
			if m == "example.com/ragflow" {
				continue
			}
			for license := range strings.SplitSeq(licensesOf(m), ", ") {
				if !slices.Contains(free, license) {
					t.Errorf("%s has the licence %s; add it to licenses.txt", m, license)
				}
			}
		}
	}
}
