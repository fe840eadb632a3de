package main

import (
	globs "path"

	"github.com/spf13/pflag"

	"example.com/ragflow/state"
)

// filterFlags are what documents a search or an answer may use.
type filterFlags struct{ must, any, paths []string }

// filterFlags adds --filter, --any and --path to a command.
func (a *app) filterFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&a.flags.filter.must, "filter", nil, "use only documents whose metadata says `CONDITION`: category=guide, tags=a,b, version>=2, date<2024-06-01, draft!=*; may be repeated")
	f.StringArrayVar(&a.flags.filter.any, "any", nil, "use only documents that at least one --any `CONDITION` holds for; may be repeated")
	f.StringArrayVar(&a.flags.filter.paths, "path", nil, "use only documents whose path fits `GLOB`, such as 'docs/**/*.md'; may be repeated for several")
}

// filter reads the flags.
func (a *app) filter() (state.Filter, error) {
	var f state.Filter
	for _, c := range a.flags.filter.must {
		if err := f.Add(c); err != nil {
			return f, conditionFault(err)
		}
	}
	for _, c := range a.flags.filter.any {
		if err := f.AddAny(c); err != nil {
			return f, conditionFault(err)
		}
	}
	for _, p := range a.flags.filter.paths {
		if _, err := globs.Match(p, ""); err != nil {
			return f, usagef("--path %q: [ without ]", p).with("write a glob, such as --path 'docs/**/*.md'")
		}
	}
	f.AddPaths(a.flags.filter.paths...)
	return f, nil
}

// conditionFault shows where a condition is wrong.
func conditionFault(err error) error {
	return usagef("%w", err).with(`write KEY=VALUE, such as --filter category=guide, --filter 'version>=2' or --filter 'draft!=*'`)
}
