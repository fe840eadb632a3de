package main

import (
	"fmt"
	"strconv"

	"example.com/ragflow"
)

// denseSettings are the settings of the search by meaning. They matter where an
// embedding model is configured.
func denseSettings() (rows []setting, defaults map[string][]string) {
	rows = []setting{
		{
			name: "EMBEDDING_DIMENSION", key: "embedding_dimension", allowed: "a whole number from 1 to 65536, or auto",
			set: func(c *ragflow.Config, v []string) bool {
				return v[0] == "auto" || whole(&c.Dense.Dimension, v[0], 1<<16)
			},
		},
		{
			name: "EMBEDDING_METRIC", key: "embedding_metric", allowed: "cosine, the only metric",
			set: func(_ *ragflow.Config, v []string) bool { return v[0] == "cosine" },
		},
		{
			name: "EMBEDDING_VECTORS", key: "embedding_vectors", allowed: "passage, one vector a passage; smaller passages (CHUNK_SIZE) find parts of long ones",
			set: func(_ *ragflow.Config, v []string) bool { return v[0] == "passage" },
		},
		{
			name: "EMBEDDING_TOKENS", key: "embedding_tokens", allowed: "a whole number from 1 to 100000",
			set: func(c *ragflow.Config, v []string) bool { return whole(&c.Dense.Tokens, v[0], 100_000) },
		},
		{
			name: "EMBEDDING_QUERY_PREFIX", key: "embedding_query_prefix", raw: true, allowed: "a text",
			set: func(c *ragflow.Config, v []string) bool { c.Dense.QueryPrefix = v[0]; return true },
		},
		{
			name: "EMBEDDING_PASSAGE_PREFIX", key: "embedding_passage_prefix", raw: true, allowed: "a text",
			set: func(c *ragflow.Config, v []string) bool { c.Dense.PassagePrefix = v[0]; return true },
		},
		{
			name: "REBUILD_INDEX", key: "rebuild_index", allowed: "0 or 1",
			set: func(c *ragflow.Config, v []string) bool {
				on, err := strconv.ParseBool(v[0])
				c.Dense.Rebuild = on
				return err == nil
			},
		},
	}
	return rows, map[string][]string{
		"EMBEDDING_DIMENSION": {"auto"},
		"EMBEDDING_METRIC":    {"cosine"},
		"EMBEDDING_VECTORS":   {"passage"},
		"EMBEDDING_TOKENS":    {"400"},
		"REBUILD_INDEX":       {"0"},
	}
}

// denseTrouble warns where passages cannot be found by meaning.
func (a *app) denseTrouble(r *ragflow.DenseReport) {
	if r == nil || a.quiet {
		return
	}
	switch {
	case r.Error != "" && r.Chunks == 0: // the vectors there are cannot be used, so none was looked at
		fmt.Fprintf(a.err, "warning: search by meaning is left out: %s\n", line(r.Error))
	case r.Error != "":
		fmt.Fprintf(a.err, "warning: search by meaning is incomplete, %s of %s without a vector: %s\n",
			strconv.Itoa(r.Missing), count(r.Chunks, "passage"), line(r.Error))
	case r.Missing > 0:
		fmt.Fprintf(a.err, "warning: search by meaning is incomplete, the model refused %s\n", count(r.Missing, "passage"))
	}
}

// embedded sums up what embedding did, on one line; empty where it did nothing.
func embedded(r *ragflow.DenseReport) string {
	if r == nil || r.Embedded == 0 {
		return ""
	}
	return fmt.Sprintf("embedded %s with %s", count(r.Embedded, "passage"), line(r.Model))
}
