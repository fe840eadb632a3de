package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"example.com/ragflow"
)

// chunkSettings are the settings of how documents are cut.
func chunkSettings() (rows []setting, defaults map[string][]string) {
	rows = []setting{
		{
			zero: true, name: "RAGFLOW_CHUNKER", key: "chunker", allowed: "one of " + strings.Join(ragflow.Chunkers(), ", "),
			set: func(c *ragflow.Config, v []string) bool {
				c.Chunking.Chunker = v[0]
				return slices.Contains(ragflow.Chunkers(), v[0])
			},
		},
		{
			zero: true, name: "CHUNK_SIZE", key: "chunk_size", allowed: "a whole number of tokens from 16 to 8192",
			set: func(c *ragflow.Config, v []string) bool {
				return whole(&c.Chunking.Size, v[0], 8192) && c.Chunking.Size >= 16
			},
		},
		{
			zero: true, name: "CHUNK_OVERLAP", key: "chunk_overlap", allowed: "a whole number of tokens from 0 to 4096",
			set: func(c *ragflow.Config, v []string) bool {
				n, err := strconv.Atoi(v[0])
				c.Chunking.Overlap = n
				if n == 0 {
					c.Chunking.Overlap = -1 // none, where 0 is the default
				}
				return err == nil && n >= 0 && n <= 4096
			},
		},
		{
			zero: true, name: "SEMANTIC_MODEL", key: "semantic_model", allowed: "words, or the name of the embedding model",
			set: func(c *ragflow.Config, v []string) bool {
				if c.Chunking.Semantic.Model = v[0]; v[0] == "words" {
					c.Chunking.Semantic.Model = ""
				}
				return !strings.ContainsAny(v[0], " \t\r\n")
			},
		},
		{
			zero: true, name: "SEMANTIC_SPLIT_ON", key: "semantic_split_on", allowed: "sentences or paragraphs",
			set: func(c *ragflow.Config, v []string) bool {
				c.Chunking.Semantic.SplitOn = v[0]
				return v[0] == "sentences" || v[0] == "paragraphs"
			},
		},
		{
			zero: true, name: "SEMANTIC_PRESERVE_CONTEXT", key: "semantic_preserve_context", allowed: "true or false",
			set: func(c *ragflow.Config, v []string) bool {
				c.Chunking.Semantic.Apart = v[0] == "false"
				return v[0] == "true" || v[0] == "false"
			},
		},
		{
			zero: true, name: "SEMANTIC_THRESHOLD", key: "semantic_threshold", allowed: "a number above 0 and up to 1",
			set: func(c *ragflow.Config, v []string) bool { return fraction(&c.Chunking.Semantic.Threshold, v[0]) },
		},
	}
	return rows, map[string][]string{
		"SEMANTIC_MODEL": {"words"}, "SEMANTIC_SPLIT_ON": {"sentences"}, "SEMANTIC_PRESERVE_CONTEXT": {"true"},
		"SEMANTIC_THRESHOLD": {"0.5"},

		"RAGFLOW_CHUNKER": {"adaptive"},
		"CHUNK_SIZE":      {"512"},
		"CHUNK_OVERLAP":   {"50"},
	}
}

// chunkFlags adds the flags of how documents are cut.
func (a *app) chunkFlags(f *pflag.FlagSet) {
	f.StringVar(a.retrievalFlag("RETRIEVAL_PRESET"), "preset", "", "cut documents as preset `NAME` says: "+strings.Join(ragflow.PresetNames(), ", "))
	f.StringVar(&a.flags.chunker, "chunker", "", "how documents are cut: `NAME` is one of "+strings.Join(ragflow.Chunkers(), ", ")+" (default: as before, else RAGFLOW_CHUNKER)")
	f.StringVar(&a.flags.chunkSize, "chunk-size", "", "most `TOKENS` of a passage (default: as before, else CHUNK_SIZE)")
	f.StringVar(&a.flags.overlap, "overlap", "", "`TOKENS` of a passage that the next one repeats, where it is cut at a size (default: as before, else CHUNK_OVERLAP)")
}

// chunkFlagged reports whether a flag says how documents are cut.
func (a *app) chunkFlagged() bool {
	return a.flags.chunker != "" || *a.retrievalFlag("RETRIEVAL_PRESET") != "" || a.flags.chunkSize != "" || a.flags.overlap != ""
}
