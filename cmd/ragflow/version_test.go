package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// TestMaterials reads the bill of materials as a tool would.
func TestMaterials(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"version", "--licenses", "--json"}, strings.NewReader(""), &out, &errs, nil); code != 0 {
		t.Fatal(code, errs.String())
	}
	var b bill
	if err := json.Unmarshal(out.Bytes(), &b); err != nil {
		t.Fatal(err)
	}
	if b.Format != "CycloneDX" || b.Version != "1.5" {
		t.Errorf("got %+v", b)
	}
	info, _ := debug.ReadBuildInfo()
	const data = 2 // the weights and the opposites, of others
	if len(b.Components) != data+len(info.Deps) || len(info.Deps) < 10 {
		t.Fatalf("%d components, want %d and %d", len(b.Components), data, len(info.Deps))
	}
	for _, c := range b.Components[data:] {
		if c.PackageURL != "pkg:golang/"+c.Name+"@"+c.Version || len(c.Licenses) != 1 || c.Properties[0].Name != "go:sum" {
			t.Errorf("got %+v", c)
		}
	}
}

// TestLicenses wants a licence for each module that the program links on any platform, and
// none that asks more of a user than to name its authors.
func TestLicenses(t *testing.T) {
	t.Parallel()
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
			for _, license := range licensesOf(m) {
				if !slices.Contains(free, license) {
					t.Errorf("%s has the licence %s; add it to licenses.txt", m, license)
				}
			}
		}
	}
}
