package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/checkpoint/postgres"
	"example.com/ragflow/ingest/chunk"
	"example.com/ragflow/search"
	"example.com/ragflow/search/rank"
)

// setting is one thing that can be configured.
type setting struct {
	name    string // environment variable
	key     string // in the configuration file
	also    string // a second name of the variable
	preset  string // the default
	allowed string // what values are; for messages
	note    string // says what to use instead of a setting that is checked and has no effect
	is      traits
	set     func(c *ragflow.Config, value string) bool
	setList func(c *ragflow.Config, values []string) // of a list, instead of set
}

// traits say what kind of setting one is.
type traits int

const (
	firstPage traits = 1 << iota // on the first page of "ragflow config"
	list                         // several values: a list in the file, separated by the list separator of the system in the environment
	path                         // values are paths, relative to the place they were written in
	raw                          // spaces around the value belong to it
	address                      // a URL: not shown where it is refused, for it may hold a password
	zero                         // the zero Config holds the default already, and other defaults may follow from what is set
	secret                       // never shown, and not read from the configuration file; key is empty
	safe                         // an untrusted file may set it: it sends nothing anywhere and reads no file
	own                          // a collection has its own
	ofModel                      // matters only where a model is used
)

// has reports whether a setting has a trait.
func (s setting) has(t traits) bool { return s.is&t != 0 }

// automatic is the value of a setting that the program chooses itself.
const automatic = "auto"

// table lists the settings in the order people see them: the only place that
// knows their names.
func table(dataDir string, m *models) []setting {
	ranking := search.DefaultRanking()
	return slices.Concat([]setting{
		{
			name: "RAGFLOW_DATA_DIR", key: "data_dir", preset: dataDir, is: firstPage | path, allowed: "a folder",
			set: func(c *ragflow.Config, v string) bool { c.DataDir = v; return v != "" },
		},
		{
			name: "RAGFLOW_DOCS", key: "docs", is: firstPage | list | path | own, allowed: "files and folders",
			setList: func(c *ragflow.Config, v []string) { c.Docs = v },
		},
		{
			name: "MAX_MESSAGES_BEFORE_SUMMARY", key: "max_messages_before_summary", preset: "1500", is: firstPage | safe,
			allowed: "a whole number of tokens from 1 to 1000000",
			set:     whole(1_000_000, func(c *ragflow.Config) *int { return &c.SummaryTokens }),
		},
		{
			name: "MAX_CONTENT_TOKENS", key: "max_content_tokens", preset: "4096", is: firstPage | safe,
			allowed: "a whole number of tokens from 1 to 1000000",
			set:     whole(1_000_000, func(c *ragflow.Config) *int { return &c.ContentTokens }),
		},
		{
			name: "RELEVANCE_THRESHOLD", key: "relevance_threshold", preset: "0.5", is: firstPage | safe,
			allowed: "a number above 0 and up to 1", set: fraction(func(c *ragflow.Config) *float64 { return &c.Threshold }),
		},
		{
			name: "STRICT_CITATIONS", key: "strict_citations", preset: "false", is: firstPage | safe, allowed: "true or false",
			set: truth(func(c *ragflow.Config) *bool { return &c.Strict }),
		},
		{
			name: "RAGFLOW_TRUST_DOCUMENTS", key: "trust_documents", preset: "false", allowed: "true or false",
			set: truth(func(c *ragflow.Config) *bool { return &c.Context.TrustDocuments }),
		},
		{
			name: "RETRIEVAL_MAX_WORKERS", key: "retrieval_max_workers", preset: "4", is: firstPage | safe,
			allowed: "a whole number from 1 to 64", set: whole(64, func(c *ragflow.Config) *int { return &c.RetrievalWorkers }),
		},
		{
			name: "RAGFLOW_DICTIONARY", key: "dictionary", is: firstPage | path,
			allowed: `a file with lines such as "leave: holiday, time off"`,
			set:     text(func(c *ragflow.Config) *string { return &c.Dictionary }),
		},
		{
			name: "RAGFLOW_SYSTEM_PROMPT", key: "system_prompt", is: path, allowed: "a file with a system prompt that holds {context}",
			set: text(func(c *ragflow.Config) *string { return &c.SystemPrompt }),
		},
		{
			name: "RAGFLOW_STORE", key: "store", is: firstPage | address,
			allowed: "a URL such as postgres://user@host:5432/database, or unset for threads.db in the data folder",
			set: func(c *ragflow.Config, v string) bool {
				c.ThreadStore = openPostgres(v)
				return postgres.CheckURL(v) == nil
			},
		},
		{
			name: "RAGFLOW_DURABILITY", key: "durability", preset: ragflow.ProcessCrash,
			allowed: ragflow.ProcessCrash + " or " + ragflow.PowerLoss,
			set:     oneOf([]string{ragflow.ProcessCrash, ragflow.PowerLoss}, func(c *ragflow.Config) *string { return &c.Durability }),
		},
		{
			name: "RAGFLOW_THREAD_KEYS", is: firstPage | secret,
			allowed: "keys such as 2026:KEY, KEY being 32 bytes in base64; the first one is the current",
			set: func(c *ragflow.Config, v string) bool {
				keys, err := ragflow.ParseKeyring(v)
				c.ThreadKeys = keys
				return err == nil
			},
		},
		{
			name: "EMBEDDING_DIMENSION", key: "embedding_dimension", preset: automatic, is: safe | own,
			allowed: "a whole number from 1 to 65536, or auto",
			set:     or(automatic, whole(1<<16, func(c *ragflow.Config) *int { return &c.Dense.Dimension })),
		},
		{
			name: "EMBEDDING_METRIC", key: "embedding_metric", preset: "cosine", is: safe | own, allowed: "cosine, the only metric",
			set: func(_ *ragflow.Config, v string) bool { return v == "cosine" },
		},
		{
			name: "EMBEDDING_TOKENS", key: "embedding_tokens", preset: "400", is: safe | own, allowed: "a whole number from 1 to 100000",
			set: whole(100_000, func(c *ragflow.Config) *int { return &c.Dense.Tokens }),
		},
		{
			name: "EMBEDDING_QUERY_PREFIX", key: "embedding_query_prefix", is: raw | own, allowed: "a text",
			set: text(func(c *ragflow.Config) *string { return &c.Dense.QueryPrefix }),
		},
		{
			name: "EMBEDDING_PASSAGE_PREFIX", key: "embedding_passage_prefix", is: raw | own, allowed: "a text",
			set: text(func(c *ragflow.Config) *string { return &c.Dense.PassagePrefix }),
		},
		{
			name: "REBUILD_INDEX", key: "rebuild_index", preset: "0", allowed: "0 or 1",
			set: func(c *ragflow.Config, v string) (ok bool) {
				var err error
				c.Dense.Rebuild, err = strconv.ParseBool(v)
				return err == nil
			},
		},
		{
			name: "RETRIEVAL_PRESET", key: "retrieval_preset", preset: "none", is: firstPage | safe,
			allowed: "one of none, " + strings.Join(ragflow.PresetNames(), ", "),
			set:     or("none", oneOf(ragflow.PresetNames(), func(c *ragflow.Config) *string { return &c.Preset })),
		},
		{
			name: "RETRIEVAL_FUSION", key: "retrieval_fusion", preset: automatic, is: safe,
			allowed: "one of auto, " + strings.Join(rank.Methods(), ", "),
			set:     or(automatic, oneOf(rank.Methods(), func(c *ragflow.Config) *string { return &c.Retrieval.Fusion.Method })),
		},
		{
			name: "RETRIEVAL_ALPHA", key: "retrieval_alpha", preset: automatic, is: safe,
			allowed: "a number from 0 (words only) to 1 (meaning only), or auto",
			set:     or(automatic, func(c *ragflow.Config, v string) bool { return alpha(&c.Dense, v) }),
		},
		weightRow("RAG_VECTOR_WEIGHT", 0.7, func(w *search.Weights) *float64 { return &w.Dense }),
		weightRow("RAG_KEYWORD_WEIGHT", 0.3, func(w *search.Weights) *float64 { return &w.Lexical }),
		weightRow("RAG_GRAPH_WEIGHT", 0, func(w *search.Weights) *float64 { return &w.Graph }),
		{
			name: "RETRIEVAL_WEIGHTS", key: "retrieval_weights", preset: automatic, is: safe,
			allowed: "weights such as dense=0.7,lexical=0.3,graph=0, or auto",
			set:     or(automatic, func(c *ragflow.Config, v string) bool { return weights(&c.Retrieval.Weights, v) }),
		},
		{
			name: "RETRIEVAL_GRAPH", key: "retrieval_graph", preset: automatic, is: safe, allowed: "auto, off, or 1, 2 or 3 hops",
			set: or(automatic, func(c *ragflow.Config, v string) bool {
				c.Retrieval.Hops = -1
				return v == "off" || whole(search.MaxHops, func(c *ragflow.Config) *int { return &c.Retrieval.Hops })(c, v)
			}),
		},
		{
			name: "RETRIEVAL_MULTI_SOURCE", key: "retrieval_multi_source", preset: fmt.Sprint(rank.DefaultMultiSource), is: safe,
			allowed: "a number from 1 (off) to 10",
			set:     numeric(1, 10, func(c *ragflow.Config) *float64 { return &c.Retrieval.Fusion.MultiSource }),
		},
		{
			name: "RETRIEVAL_THRESHOLD", also: "RAG_MIN_SCORE_THRESHOLD", key: "retrieval_threshold",
			preset: fmt.Sprint(rank.DefaultThreshold), is: safe,
			allowed: "a number above 0 and up to 1, or off",
			set: func(c *ragflow.Config, v string) bool {
				c.Retrieval.Fusion.Threshold = -1
				return v == "off" || fraction(func(c *ragflow.Config) *float64 { return &c.Retrieval.Fusion.Threshold })(c, v)
			},
		},
		{
			name: "RAG_MAX_RESULTS", key: "rag_max_results", preset: "10", is: zero | safe, allowed: "a whole number from 1 to 1000",
			set: whole(mostHits, func(c *ragflow.Config) *int { return &c.Retrieval.TopK }),
		},
		without("MMR_LAMBDA", "0.5", "a number from 0 to 1", "relevance and novelty count the same; RERANKING=mmr uses them",
			numeric(0, 1, func(*ragflow.Config) *float64 { return new(float64) })),
		without("RAG_QUERY_EXPANSION", "true", "true or false", "synonyms are always searched for too; RAGFLOW_DICTIONARY adds yours",
			truth(func(*ragflow.Config) *bool { return new(bool) })),
		without("RAG_ENABLE_CACHING", "true", "true or false", "vectors are kept in the index, and answers are always made anew",
			truth(func(*ragflow.Config) *bool { return new(bool) })),
		without("RAG_CACHE_TTL_SECONDS", "3600", "a whole number of seconds from 1 to 31536000", "vectors are kept in the index as long as their documents",
			whole(31_536_000, func(*ragflow.Config) *int { return new(int) })),
		{
			name: "RERANKING_ENABLED", key: "reranking_enabled", preset: "true", is: zero | safe, allowed: "true or false",
			set: func(c *ragflow.Config, v string) bool {
				if v == "false" {
					c.Retrieval.Rerank = search.RerankOff
				}
				return v == "true" || v == "false"
			},
		},
		{
			name: "RERANKING", key: "reranking", is: firstPage | safe, allowed: "one of " + strings.Join(search.RerankMethods(), ", "),
			set: oneOf(search.RerankMethods(), func(c *ragflow.Config) *string { return &c.Retrieval.Rerank }),
		},
		rankingRow("BM25_K1", 10, ranking.K1, func(r *search.Ranking) *float64 { return &r.K1 }),
		rankingRow("BM25_B", 1, ranking.B, func(r *search.Ranking) *float64 { return &r.B }),
		rankingRow("BM25_TITLE", 100, ranking.Title, func(r *search.Ranking) *float64 { return &r.Title }),
		rankingRow("BM25_HEADINGS", 100, ranking.Heading, func(r *search.Ranking) *float64 { return &r.Heading }),
		rankingRow("BM25_DOCUMENT", 100, ranking.Document, func(r *search.Ranking) *float64 { return &r.Document }),
		{
			name: "RAGFLOW_CHUNKER", key: "chunker", preset: "adaptive", is: firstPage | zero | safe | own,
			allowed: "one of " + strings.Join(chunk.Chunkers(), ", "),
			set:     oneOf(chunk.Chunkers(), func(c *ragflow.Config) *string { return &c.Chunking.Chunker }),
		},
		{
			name: "CHUNK_SIZE", key: "chunk_size", preset: "512", is: firstPage | zero | safe | own,
			allowed: "a whole number of tokens from 16 to 8192",
			set: func(c *ragflow.Config, v string) bool {
				return whole(8192, func(c *ragflow.Config) *int { return &c.Chunking.Size })(c, v) && c.Chunking.Size >= 16
			},
		},
		{
			name: "CHUNK_OVERLAP", key: "chunk_overlap", preset: "50", is: firstPage | zero | safe | own,
			allowed: "a whole number of tokens from 0 to 4096",
			set: func(c *ragflow.Config, v string) bool {
				n, err := strconv.Atoi(v)
				c.Chunking.Overlap = n
				if n == 0 {
					c.Chunking.Overlap = -1 // none, where 0 is the default
				}
				return err == nil && n >= 0 && n <= 4096
			},
		},
		{
			name: "SEMANTIC_MODEL", key: "semantic_model", preset: "words", is: zero, allowed: "words, or the name of the embedding model",
			set: or("words", name(func(c *ragflow.Config) *string { return &c.Chunking.Semantic.Model })),
		},
		{
			name: "SEMANTIC_SPLIT_ON", key: "semantic_split_on", preset: "sentences", is: zero | safe, allowed: "sentences or paragraphs",
			set: oneOf([]string{"sentences", "paragraphs"}, func(c *ragflow.Config) *string { return &c.Chunking.Semantic.SplitOn }),
		},
		{
			name: "SEMANTIC_PRESERVE_CONTEXT", key: "semantic_preserve_context", preset: "true", is: zero | safe, allowed: "true or false",
			set: func(c *ragflow.Config, v string) bool {
				c.Chunking.Semantic.Apart = v == "false"
				return v == "true" || v == "false"
			},
		},
		{
			name: "SEMANTIC_THRESHOLD", key: "semantic_threshold", preset: "0.5", is: zero | safe, allowed: "a number above 0 and up to 1",
			set: fraction(func(c *ragflow.Config) *float64 { return &c.Chunking.Semantic.Threshold }),
		},
	}, weaviateTable(), modelTable(m))
}

// rankingRow is a number of the search by words.
func rankingRow(variable string, most, preset float64, field func(*search.Ranking) *float64) setting {
	return setting{
		name: variable, key: strings.ToLower(variable), preset: strconv.FormatFloat(preset, 'g', -1, 64), is: safe,
		allowed: fmt.Sprintf("a number from 0 to %g", most),
		set: numeric(0, most, func(c *ragflow.Config) *float64 {
			if c.Retrieval.Ranking == nil {
				r := search.DefaultRanking()
				c.Retrieval.Ranking = &r
			}
			return field(c.Retrieval.Ranking)
		}),
	}
}

// weightRow is the weight of a leg. One that is set makes the others count as their
// defaults.
func weightRow(variable string, preset float64, field func(*search.Weights) *float64) setting {
	return setting{
		name: variable, key: strings.ToLower(variable), preset: fmt.Sprint(preset), is: zero | safe, allowed: "a number from 0 to 1",
		set: numeric(0, 1, func(c *ragflow.Config) *float64 {
			if c.Retrieval.Weights == (search.Weights{}) {
				c.Retrieval.Weights = search.Weights{Dense: 0.7, Lexical: 0.3}
			}
			return field(&c.Retrieval.Weights)
		}),
	}
}

// without is a setting that a configuration may hold and that has no effect.
func without(variable, preset, allowed, note string, set setter) setting {
	return setting{name: variable, key: strings.ToLower(variable), preset: preset, note: note, is: zero | safe, allowed: allowed, set: set}
}
