package main

import (
	"fmt"
	globs "path"
	"slices"

	"github.com/spf13/pflag"

	"example.com/ragflow/internal/settings"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// given is what the flags say that several commands share. All commands of a call have the
// same one, for only one of them runs.
type given struct {
	settings         map[string]*settings.Flag
	offline          bool
	collection       string
	must, any, paths []string // conditions of documents
}

func newGiven() *given { return &given{settings: settings.Flags()} }

// of returns the text that the flag of a setting was given; empty if it was not.
func (g *given) of(setting string) string {
	if v := g.settings[setting].Values; len(v) > 0 {
		return v[0]
	}
	return ""
}

// docs are the documents that the command line names.
func (g *given) docs() []string { return g.settings["RAGFLOW_DOCS"].Values }

// setDocs names the documents.
func (g *given) setDocs(docs []string) { g.settings["RAGFLOW_DOCS"].Values = docs }

// Settings that several commands have flags for.
var (
	searchFlags = []string{"RAGFLOW_DOCS", "RAGFLOW_DICTIONARY", "RETRIEVAL_PRESET", "RETRIEVAL_FUSION", "RETRIEVAL_ALPHA", "RETRIEVAL_GRAPH", "RERANKING"}
	chunkFlags  = []string{"RETRIEVAL_PRESET", "RAGFLOW_CHUNKER", "CHUNK_SIZE", "CHUNK_OVERLAP"}
	modelFlags  = []string{"SMART_LLM_MODEL", "GRADER_LLM_MODEL", "LLM_FALLBACK", "LLM_TRANSFORMS", "LLM_SYNTHESIS"}
)

// add adds the flags of settings to a command. --docs may be repeated.
func (g *given) add(f *pflag.FlagSet, variables ...string) {
	for _, v := range variables {
		flag := g.settings[v]
		if v == "RAGFLOW_DOCS" {
			f.StringArrayVar(&flag.Values, flag.Name, nil, flag.Usage)
			continue
		}
		f.Func(flag.Name, flag.Usage, func(text string) error {
			if flag.Values = []string{text}; text == "" {
				flag.Values = nil
			}
			return nil
		})
	}
}

// addAsk adds the flags of all commands that answer questions.
func (g *given) addAsk(f *pflag.FlagSet) {
	g.addSearch(f)
	g.addModels(f)
	g.addFilter(f)
	g.addNoQueryLog(f)
	g.addNoCache(f)
}

// addNoCache adds --no-cache.
func (g *given) addNoCache(f *pflag.FlagSet) {
	f.BoolFunc("no-cache", "answer or search anew, although RAG_ENABLE_CACHING keeps answers and results", func(string) error {
		g.settings["RAG_ENABLE_CACHING"].Values = []string{"false"}
		return nil
	})
}

// addSearch adds the flags of all commands that search.
func (g *given) addSearch(f *pflag.FlagSet) {
	g.add(f, searchFlags...)
	g.addCollection(f)
}

// addModels adds the flags of models.
func (g *given) addModels(f *pflag.FlagSet) {
	g.add(f, modelFlags...)
	f.BoolVar(&g.offline, "offline", false, "use no model, even if one is configured")
	g.addNoMeaning(f)
}

// addNoMeaning adds --no-meaning.
func (g *given) addNoMeaning(f *pflag.FlagSet) {
	f.BoolFunc("no-meaning", "find and order passages by words alone, without the built-in model; as --rerank "+search.RerankOffline, func(string) error {
		g.settings["RERANKING"].Values = []string{search.RerankOffline}
		return nil
	})
}

// addNoQueryLog adds --no-query-log.
func (g *given) addNoQueryLog(f *pflag.FlagSet) {
	f.BoolFunc("no-query-log", "keep what is asked out of the query log, queries.db in the data folder", func(string) error {
		g.settings["RAGFLOW_QUERY_LOG"].Values = []string{"off"}
		return nil
	})
}

// addCollection adds --collection. It is given once, for two would seem to be searched together.
func (g *given) addCollection(f *pflag.FlagSet) {
	f.Func("collection", "use the collection `NAME`, a set of folders with an index, an embedding model and a chunker of its own", func(name string) error {
		if g.collection != "" {
			return fmt.Errorf("it is given already, as %q", g.collection)
		}
		g.collection = name
		return nil
	})
}

// cut reports whether a flag says how documents are cut.
func (g *given) cut() bool {
	return slices.ContainsFunc(chunkFlags, func(v string) bool { return g.of(v) != "" })
}

// addFilter adds --filter, --any and --path.
func (g *given) addFilter(f *pflag.FlagSet) {
	f.StringArrayVar(&g.must, "filter", nil, "use only documents whose metadata says `CONDITION`: category=guide, tags=a,b, version>=2, date<2024-06-01, draft!=*; may be repeated")
	f.StringArrayVar(&g.any, "any", nil, "use only documents that at least one --any `CONDITION` holds for; may be repeated")
	f.StringArrayVar(&g.paths, "path", nil, "use only documents whose path fits `GLOB`, such as 'docs/**/*.md'; may be repeated for several")
}

// filter is what --filter, --any and --path ask for.
func (g *given) filter() (state.Filter, error) {
	var f state.Filter
	for _, c := range g.must {
		if err := f.Add(c); err != nil {
			return f, badCondition(err)
		}
	}
	for _, c := range g.any {
		if err := f.AddAny(c); err != nil {
			return f, badCondition(err)
		}
	}
	for _, p := range g.paths {
		if _, err := globs.Match(p, ""); err != nil {
			return f, usagef("--path %q: [ without ]", p).with("write a glob, such as --path 'docs/**/*.md'")
		}
	}
	f.AddPaths(g.paths...)
	return f, nil
}

func badCondition(err error) error {
	return usagef("%w", err).with(`write KEY=VALUE, such as --filter category=guide, --filter 'version>=2' or --filter 'draft!=*'`)
}
