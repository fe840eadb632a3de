package config

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

// automatic is the value of a setting that the program chooses itself.
const automatic = "auto"

// MostHits is the greatest number of passages that a search lists.
const MostHits = 1000

// Table lists the settings in the order people see them. A value that is taken goes into
// a ragflow.Config, or into m where it is about models.
func Table(dataDir string, m *Models) []Setting {
	ranking := search.DefaultRanking()
	return slices.Concat([]Setting{
		{
			Name: "RAGFLOW_DATA_DIR", Key: "data_dir", Preset: dataDir, is: FirstPage | Path, Allowed: "a folder",
			set: func(c *ragflow.Config, v string) bool { c.DataDir = v; return v != "" },
		},
		{
			Name: "RAGFLOW_DOCS", Key: "docs", is: FirstPage | List | Path | Own, Allowed: "files and folders",
			setList: func(c *ragflow.Config, v []string) { c.Docs = v },
		},
		{
			Name: "MAX_MESSAGES_BEFORE_SUMMARY", Key: "max_messages_before_summary", Preset: "1500", is: FirstPage | Safe,
			Allowed: "a whole number of tokens from 1 to 1000000",
			set:     whole(1_000_000, func(c *ragflow.Config) *int { return &c.SummaryTokens }),
		},
		{
			Name: "MAX_CONTENT_TOKENS", Key: "max_content_tokens", Preset: "4096", is: FirstPage | Safe,
			Allowed: "a whole number of tokens from 1 to 1000000",
			set:     whole(1_000_000, func(c *ragflow.Config) *int { return &c.ContentTokens }),
		},
		{
			Name: "RELEVANCE_THRESHOLD", Key: "relevance_threshold", Preset: "0.5", is: FirstPage | Safe,
			Allowed: "a number above 0 and up to 1", set: fraction(func(c *ragflow.Config) *float64 { return &c.Threshold }),
		},
		{
			Name: "STRICT_CITATIONS", Key: "strict_citations", Preset: "false", is: FirstPage | Safe, Allowed: "true or false",
			set: truth(func(c *ragflow.Config) *bool { return &c.Strict }),
		},
		{
			Name: "RAGFLOW_TRUST_DOCUMENTS", Key: "trust_documents", Preset: "false", Allowed: "true or false",
			set: truth(func(c *ragflow.Config) *bool { return &c.Context.TrustDocuments }),
		},
		{
			Name: "RETRIEVAL_MAX_WORKERS", Key: "retrieval_max_workers", Preset: "4", is: FirstPage | Safe,
			Allowed: "a whole number from 1 to 64", set: whole(64, func(c *ragflow.Config) *int { return &c.RetrievalWorkers }),
		},
		{
			Name: "RAGFLOW_DICTIONARY", Key: "dictionary", is: FirstPage | Path,
			Allowed: `a file with lines such as "leave: holiday, time off"`,
			set:     text(func(c *ragflow.Config) *string { return &c.Dictionary }),
		},
		{
			Name: "RAGFLOW_SYSTEM_PROMPT", Key: "system_prompt", is: Path, Allowed: "a file with a system prompt that holds {context}",
			set: text(func(c *ragflow.Config) *string { return &c.SystemPrompt }),
		},
		{
			Name: "RAGFLOW_STORE", Key: "store", is: FirstPage | Address,
			Allowed: "a URL such as postgres://user@host:5432/database, or unset for threads.db in the data folder",
			set: func(c *ragflow.Config, v string) bool {
				c.ThreadStore = openPostgres(v)
				return postgres.CheckURL(v) == nil
			},
		},
		{
			Name: "RAGFLOW_DURABILITY", Key: "durability", Preset: ragflow.ProcessCrash,
			Allowed: ragflow.ProcessCrash + " or " + ragflow.PowerLoss,
			set:     oneOf([]string{ragflow.ProcessCrash, ragflow.PowerLoss}, func(c *ragflow.Config) *string { return &c.Durability }),
		},
		{
			Name: "RAGFLOW_THREAD_KEYS", is: FirstPage | Secret,
			Allowed: "keys such as 2026:KEY, KEY being 32 bytes in base64; the first one is the current",
			set: func(c *ragflow.Config, v string) bool {
				keys, err := ragflow.ParseKeyring(v)
				c.ThreadKeys = keys
				return err == nil
			},
		},
		{
			Name: "EMBEDDING_DIMENSION", Key: "embedding_dimension", Preset: automatic, is: Safe | Own,
			Allowed: "a whole number from 1 to 65536, or auto",
			set:     or(automatic, whole(1<<16, func(c *ragflow.Config) *int { return &c.Dense.Dimension })),
		},
		{
			Name: "EMBEDDING_METRIC", Key: "embedding_metric", Preset: "cosine", is: Safe | Own, Allowed: "cosine, the only metric",
			set: func(_ *ragflow.Config, v string) bool { return v == "cosine" },
		},
		{
			Name: "EMBEDDING_TOKENS", Key: "embedding_tokens", Preset: "400", is: Safe | Own, Allowed: "a whole number from 1 to 100000",
			set: whole(100_000, func(c *ragflow.Config) *int { return &c.Dense.Tokens }),
		},
		{
			Name: "EMBEDDING_QUERY_PREFIX", Key: "embedding_query_prefix", is: Raw | Own, Allowed: "a text",
			set: text(func(c *ragflow.Config) *string { return &c.Dense.QueryPrefix }),
		},
		{
			Name: "EMBEDDING_PASSAGE_PREFIX", Key: "embedding_passage_prefix", is: Raw | Own, Allowed: "a text",
			set: text(func(c *ragflow.Config) *string { return &c.Dense.PassagePrefix }),
		},
		{
			Name: "REBUILD_INDEX", Key: "rebuild_index", Preset: "0", Allowed: "0 or 1",
			set: func(c *ragflow.Config, v string) (ok bool) {
				var err error
				c.Dense.Rebuild, err = strconv.ParseBool(v)
				return err == nil
			},
		},
		{
			Name: "RETRIEVAL_PRESET", Key: "retrieval_preset", Preset: "none", is: FirstPage | Safe,
			Allowed: "one of none, " + strings.Join(ragflow.PresetNames(), ", "),
			set:     or("none", oneOf(ragflow.PresetNames(), func(c *ragflow.Config) *string { return &c.Preset })),
		},
		{
			Name: "RETRIEVAL_FUSION", Key: "retrieval_fusion", Preset: automatic, is: Safe,
			Allowed: "one of auto, " + strings.Join(rank.Methods(), ", "),
			set:     or(automatic, oneOf(rank.Methods(), func(c *ragflow.Config) *string { return &c.Retrieval.Fusion.Method })),
		},
		{
			Name: "RETRIEVAL_ALPHA", Key: "retrieval_alpha", Preset: automatic, is: Safe,
			Allowed: "a number from 0 (words only) to 1 (meaning only), or auto",
			set:     or(automatic, func(c *ragflow.Config, v string) bool { return alpha(&c.Dense, v) }),
		},
		weightRow("RAG_VECTOR_WEIGHT", 0.7, func(w *search.Weights) *float64 { return &w.Dense }),
		weightRow("RAG_KEYWORD_WEIGHT", 0.3, func(w *search.Weights) *float64 { return &w.Lexical }),
		weightRow("RAG_GRAPH_WEIGHT", 0, func(w *search.Weights) *float64 { return &w.Graph }),
		{
			Name: "RETRIEVAL_WEIGHTS", Key: "retrieval_weights", Preset: automatic, is: Safe,
			Allowed: "weights such as dense=0.7,lexical=0.3,graph=0, or auto",
			set:     or(automatic, func(c *ragflow.Config, v string) bool { return weights(&c.Retrieval.Weights, v) }),
		},
		{
			Name: "RETRIEVAL_GRAPH", Key: "retrieval_graph", Preset: automatic, is: Safe, Allowed: "auto, off, or 1, 2 or 3 hops",
			set: or(automatic, func(c *ragflow.Config, v string) bool {
				c.Retrieval.Hops = -1
				return v == "off" || whole(search.MaxHops, func(c *ragflow.Config) *int { return &c.Retrieval.Hops })(c, v)
			}),
		},
		{
			Name: "RETRIEVAL_MULTI_SOURCE", Key: "retrieval_multi_source", Preset: fmt.Sprint(rank.DefaultMultiSource), is: Safe,
			Allowed: "a number from 1 (off) to 10",
			set:     numeric(1, 10, func(c *ragflow.Config) *float64 { return &c.Retrieval.Fusion.MultiSource }),
		},
		{
			Name: "RETRIEVAL_THRESHOLD", also: "RAG_MIN_SCORE_THRESHOLD", Key: "retrieval_threshold",
			Preset: fmt.Sprint(rank.DefaultThreshold), is: Safe,
			Allowed: "a number above 0 and up to 1, or off",
			set: func(c *ragflow.Config, v string) bool {
				c.Retrieval.Fusion.Threshold = -1
				return v == "off" || fraction(func(c *ragflow.Config) *float64 { return &c.Retrieval.Fusion.Threshold })(c, v)
			},
		},
		{
			Name: "RAG_MAX_RESULTS", Key: "rag_max_results", Preset: "10", is: Zero | Safe, Allowed: "a whole number from 1 to 1000",
			set: whole(MostHits, func(c *ragflow.Config) *int { return &c.Retrieval.TopK }),
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
			Name: "RERANKING_ENABLED", Key: "reranking_enabled", Preset: "true", is: Zero | Safe, Allowed: "true or false",
			set: func(c *ragflow.Config, v string) bool {
				if v == "false" {
					c.Retrieval.Rerank = search.RerankOff
				}
				return v == "true" || v == "false"
			},
		},
		{
			Name: "RERANKING", Key: "reranking", is: FirstPage | Safe, Allowed: "one of " + strings.Join(search.RerankMethods(), ", "),
			set: oneOf(search.RerankMethods(), func(c *ragflow.Config) *string { return &c.Retrieval.Rerank }),
		},
		rankingRow("BM25_K1", 10, ranking.K1, func(r *search.Ranking) *float64 { return &r.K1 }),
		rankingRow("BM25_B", 1, ranking.B, func(r *search.Ranking) *float64 { return &r.B }),
		rankingRow("BM25_TITLE", 100, ranking.Title, func(r *search.Ranking) *float64 { return &r.Title }),
		rankingRow("BM25_HEADINGS", 100, ranking.Heading, func(r *search.Ranking) *float64 { return &r.Heading }),
		rankingRow("BM25_DOCUMENT", 100, ranking.Document, func(r *search.Ranking) *float64 { return &r.Document }),
		{
			Name: "RAGFLOW_CHUNKER", Key: "chunker", Preset: "adaptive", is: FirstPage | Zero | Safe | Own,
			Allowed: "one of " + strings.Join(chunk.Chunkers(), ", "),
			set:     oneOf(chunk.Chunkers(), func(c *ragflow.Config) *string { return &c.Chunking.Chunker }),
		},
		{
			Name: "CHUNK_SIZE", Key: "chunk_size", Preset: "512", is: FirstPage | Zero | Safe | Own,
			Allowed: "a whole number of tokens from 16 to 8192",
			set: func(c *ragflow.Config, v string) bool {
				return whole(8192, func(c *ragflow.Config) *int { return &c.Chunking.Size })(c, v) && c.Chunking.Size >= 16
			},
		},
		{
			Name: "CHUNK_OVERLAP", Key: "chunk_overlap", Preset: "50", is: FirstPage | Zero | Safe | Own,
			Allowed: "a whole number of tokens from 0 to 4096",
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
			Name: "SEMANTIC_MODEL", Key: "semantic_model", Preset: "words", is: Zero, Allowed: "words, or the name of the embedding model",
			set: or("words", name(func(c *ragflow.Config) *string { return &c.Chunking.Semantic.Model })),
		},
		{
			Name: "SEMANTIC_SPLIT_ON", Key: "semantic_split_on", Preset: "sentences", is: Zero | Safe, Allowed: "sentences or paragraphs",
			set: oneOf([]string{"sentences", "paragraphs"}, func(c *ragflow.Config) *string { return &c.Chunking.Semantic.SplitOn }),
		},
		{
			Name: "SEMANTIC_PRESERVE_CONTEXT", Key: "semantic_preserve_context", Preset: "true", is: Zero | Safe, Allowed: "true or false",
			set: func(c *ragflow.Config, v string) bool {
				c.Chunking.Semantic.Apart = v == "false"
				return v == "true" || v == "false"
			},
		},
		{
			Name: "SEMANTIC_THRESHOLD", Key: "semantic_threshold", Preset: "0.5", is: Zero | Safe, Allowed: "a number above 0 and up to 1",
			set: fraction(func(c *ragflow.Config) *float64 { return &c.Chunking.Semantic.Threshold }),
		},
	}, indexTable(), modelTable(m))
}

// rankingRow is a number of the search by words.
func rankingRow(variable string, most, preset float64, field func(*search.Ranking) *float64) Setting {
	return Setting{
		Name: variable, Key: strings.ToLower(variable), Preset: strconv.FormatFloat(preset, 'g', -1, 64), is: Safe,
		Allowed: fmt.Sprintf("a number from 0 to %g", most),
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
func weightRow(variable string, preset float64, field func(*search.Weights) *float64) Setting {
	return Setting{
		Name: variable, Key: strings.ToLower(variable), Preset: fmt.Sprint(preset), is: Zero | Safe, Allowed: "a number from 0 to 1",
		set: numeric(0, 1, func(c *ragflow.Config) *float64 {
			if c.Retrieval.Weights == (search.Weights{}) {
				c.Retrieval.Weights = search.Weights{Dense: 0.7, Lexical: 0.3}
			}
			return field(&c.Retrieval.Weights)
		}),
	}
}

// without is a setting that a configuration may hold and that has no effect.
func without(variable, preset, allowed, note string, set setter) Setting {
	return Setting{Name: variable, Key: strings.ToLower(variable), Preset: preset, Note: note, is: Zero | Safe, Allowed: allowed, set: set}
}
