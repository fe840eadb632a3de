package main

import (
	"runtime/debug"
	"strings"
)

// bill is a software bill of materials in CycloneDX 1.5, as far as it is used.
type bill struct {
	Format     string          `json:"bomFormat"`
	Version    string          `json:"specVersion"`
	Serial     int             `json:"version"`
	Metadata   billMetadata    `json:"metadata"`
	Components []billComponent `json:"components"`
}

type billMetadata struct {
	Component billComponent `json:"component"`
}

type billComponent struct {
	Type       string         `json:"type"`
	Name       string         `json:"name"`
	Version    string         `json:"version"`
	PackageURL string         `json:"purl"`
	Licenses   []billLicense  `json:"licenses,omitempty"`
	Properties []billProperty `json:"properties,omitempty"`
}

type billLicense struct {
	License struct {
		ID string `json:"id"` // of SPDX
	} `json:"license"`
}

type billProperty struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// materials lists this program and the modules that are linked into it, each with its
// licence and the checksum of go.sum.
func materials() bill {
	b := bill{Format: "CycloneDX", Version: "1.5", Serial: 1, Components: []billComponent{}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Metadata.Component = component("application", info.Main.Path, info.Main.Version)
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		c := component("library", d.Path, d.Version)
		for id := range strings.SplitSeq(licensesOf(d.Path), ", ") {
			var l billLicense
			l.License.ID = id
			c.Licenses = append(c.Licenses, l)
		}
		if d.Sum != "" {
			c.Properties = []billProperty{{"go:sum", d.Sum}}
		}
		b.Components = append(b.Components, c)
	}
	return b
}

func component(kind, path, version string) billComponent {
	c := billComponent{Type: kind, Name: path, Version: version, PackageURL: "pkg:golang/" + path}
	if !strings.HasPrefix(version, "(") { // a build of a tree has no version
		c.PackageURL += "@" + version
	}
	return c
}
