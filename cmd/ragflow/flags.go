package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"example.com/ragflow"
	"example.com/ragflow/ingest/chunk"
	"example.com/ragflow/internal/rank"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/search"
)

// askFlags adds what all commands share that answer questions.
func (a *app) askFlags(f *pflag.FlagSet) {
	a.searchFlags(f)
	a.modelFlags(f)
	a.filterFlags(f)
}

// searchFlags adds what all commands share that search.
func (a *app) searchFlags(f *pflag.FlagSet) {
	a.docsFlag(f)
	a.dictionaryFlag(f)
	a.collectionFlag(f)
	a.textFlag(f, "RETRIEVAL_PRESET", "preset", "search as preset `NAME` says: "+strings.Join(ragflow.PresetNames(), ", "))
	a.textFlag(f, "RETRIEVAL_FUSION", "fusion", "make one list of several by `METHOD`: "+strings.Join(rank.Methods(), ", "))
	a.textFlag(f, "RETRIEVAL_ALPHA", "alpha", "weight `N` of meaning, from 0 (words only) to 1 (meaning only)")
	a.textFlag(f, "RETRIEVAL_GRAPH", "graph", "follow the relations of the best documents over `HOPS`, 1 to 3, or off")
	a.textFlag(f, "RERANKING", "rerank", "put the best passages in order by `METHOD`: "+strings.Join(search.RerankMethods(), ", "))
}

// docsFlag adds --docs to a command.
func (a *app) docsFlag(f *pflag.FlagSet) {
	f.StringArrayVar(&a.flags.docs, "docs", nil, "answer from this file or folder `PATH`; may be repeated"+
		" (default: those configured, else all that is indexed)")
}

// dictionaryFlag adds --dictionary to a command that searches.
func (a *app) dictionaryFlag(f *pflag.FlagSet) {
	a.textFlag(f, "RAGFLOW_DICTIONARY", "dictionary", "search also for what `FILE` says of words: lines such as \"leave: holiday, time off\"")
}

// collectionFlag adds --collection to a command. Two would seem to be searched together.
func (a *app) collectionFlag(f *pflag.FlagSet) {
	f.Func("collection", "use the collection `NAME`, a set of folders with an index, an embedding model and a chunker of its own", func(name string) error {
		if a.flags.collection != "" {
			return fmt.Errorf("it is given already, as %q", a.flags.collection)
		}
		a.flags.collection = name
		return nil
	})
}

// chunkFlags adds the flags of how documents are cut.
func (a *app) chunkFlags(f *pflag.FlagSet) {
	a.textFlag(f, "RETRIEVAL_PRESET", "preset", "cut documents as preset `NAME` says: "+strings.Join(ragflow.PresetNames(), ", "))
	a.textFlag(f, "RAGFLOW_CHUNKER", "chunker", "how documents are cut: `NAME` is one of "+strings.Join(chunk.Chunkers(), ", ")+" (default: as before, else RAGFLOW_CHUNKER)")
	a.textFlag(f, "CHUNK_SIZE", "chunk-size", "most `TOKENS` of a passage (default: as before, else CHUNK_SIZE)")
	a.textFlag(f, "CHUNK_OVERLAP", "overlap", "`TOKENS` of a passage that the next one repeats, where it is cut at a size (default: as before, else CHUNK_OVERLAP)")
}

// chunkFlagged reports whether a flag says how documents are cut.
func (a *app) chunkFlagged() bool {
	return a.flagged("RAGFLOW_CHUNKER")+a.flagged("RETRIEVAL_PRESET")+a.flagged("CHUNK_SIZE")+a.flagged("CHUNK_OVERLAP") != ""
}

// modelFlags adds --model, --grader-model and --offline to a command.
func (a *app) modelFlags(f *pflag.FlagSet) {
	a.textFlag(f, "SMART_LLM_MODEL", "model", "language model `NAME` to rewrite, summarise and answer with (default: SMART_LLM_MODEL, else none)")
	a.textFlag(f, "GRADER_LLM_MODEL", "grader-model", "language model `NAME` to grade with (default: GRADER_LLM_MODEL, else --model)")
	a.textFlag(f, "LLM_FALLBACK", "fallback-model", "language model `NAME` that takes over where --model fails; several are asked in turn (default: LLM_FALLBACK, else none)")
	a.textFlag(f, "LLM_TRANSFORMS", "transform", "let the model add queries to the question: `NAMES` of "+strings.Join(model.Transforms(), ", ")+", separated by commas")
	a.textFlag(f, "LLM_SYNTHESIS", "synthesis", "how the model writes the answer: `NAME` of "+strings.Join(model.Syntheses(), ", "))
	f.BoolVar(&a.flags.offline, "offline", false, "use no model, even where one is configured")
}
