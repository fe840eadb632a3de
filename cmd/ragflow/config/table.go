package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/checkpoint/postgres"
	"example.com/ragflow/ingest/chunk"
	"example.com/ragflow/internal/rank"
	"example.com/ragflow/nodes"
	"example.com/ragflow/search"
)

// Values of settings: one that the program chooses itself, and one of what is not done.
const (
	automatic = "auto"
	off       = "off"
)

// MostHits is the greatest number of passages that a search lists.
const MostHits = 1000

const (
	aTruth    = "true or false"
	aText     = "a text"
	aFraction = "a number above 0 and up to 1"
	someTexts = "a whole number of tokens from 1 to 1000000"
)

// Table lists the settings in the order people see them. A value that is taken goes into
// c, or into m where it is about models.
func Table(c *ragflow.Config, dataDir string, m *Models) []Setting {
	return slices.Concat(generalTable(c, dataDir, m), retrievalTable(c), chunkTable(c), indexTable(c), modelTable(c, m))
}

func generalTable(c *ragflow.Config, dataDir string, m *Models) []Setting {
	docs := row("RAGFLOW_DOCS", "", FirstPage|List|Path|Own, "files and folders", nil)
	docs.setList = func(v []string) { c.Docs = v }
	return []Setting{
		row("RAGFLOW_DATA_DIR", dataDir, FirstPage|Path, "a folder", func(v string) bool { c.DataDir = v; return v != "" }),
		docs,
		row("MAX_MESSAGES_BEFORE_SUMMARY", "1500", FirstPage|Safe, someTexts, whole(1, 1_000_000, &c.Settings.SummaryTokens)),
		row("MAX_CONTENT_TOKENS", "4096", FirstPage|Safe, someTexts, whole(1, 1_000_000, &c.Settings.ContentTokens)).
			shows(func(c ragflow.Config) any { return settingsInForce(c).ContentTokens }),
		row("RELEVANCE_THRESHOLD", "0.5", FirstPage|Safe, aFraction, fraction(&c.Settings.Threshold)),
		row("STRICT_CITATIONS", "false", FirstPage|Safe, aTruth, truth(&c.Settings.Strict)),
		row("RAGFLOW_TRUST_DOCUMENTS", "false", 0, aTruth, truth(&c.Settings.Context.TrustDocuments)),
		row("RETRIEVAL_MAX_WORKERS", "4", FirstPage|Safe, "a whole number from 1 to 64", whole(1, 64, &c.Workers)),
		row("RAGFLOW_DICTIONARY", "", FirstPage|Path, `a file with lines such as "leave: holiday, time off"`, text(&c.Dictionary)),
		row("RAGFLOW_SYSTEM_PROMPT", "", Path, "a file with a system prompt that holds {context}", text(&m.systemPrompt)),
		row("RAGFLOW_PROMPTS", "", Path, "a folder with prompts that take the place of built-in ones", text(&c.Prompts)),
		row("RAGFLOW_STORE", "", FirstPage|Address, "a URL such as postgres://user@host:5432/database, or unset for threads.db in the data folder",
			func(v string) bool {
				c.ThreadStore = openPostgres(v)
				return postgres.CheckURL(v) == nil
			}),
		row("RAGFLOW_DURABILITY", ragflow.ProcessCrash, 0, ragflow.ProcessCrash+" or "+ragflow.PowerLoss,
			oneOf([]string{ragflow.ProcessCrash, ragflow.PowerLoss}, &c.Durability)),
		row("RAGFLOW_THREAD_KEYS", "", FirstPage|Secret, "keys such as 2026:KEY, KEY being 32 bytes in base64; the first one is the current",
			func(v string) (ok bool) {
				var err error
				c.ThreadKeys, err = ragflow.ParseKeyring(v)
				return err == nil
			}),
	}
}

func retrievalTable(c *ragflow.Config) []Setting {
	r, weights := &c.Retrieval, &c.Retrieval.Weights
	results := fmt.Sprintf("%d a query, 10 in a list", nodes.TopK)
	ranking := search.DefaultRanking()
	r.Ranking = &ranking
	ofRanking := func(variable string, most float64, to *float64) Setting {
		return row(variable, strconv.FormatFloat(*to, 'g', -1, 64), Safe, fmt.Sprintf("a number from 0 to %g", most), numeric(0, most, to))
	}
	weighing := func(variable, preset string, to *float64, of func(search.Weights) float64) Setting {
		return row(variable, preset, Zero|Safe, "a number from 0 to 1", weight(weights, to)).
			shows(func(c ragflow.Config) any { return of(c.Retrieval.Weights.Only(c.Dense.Leg)) })
	}
	orOff := func(none func(), set setter) setter {
		return func(v string) bool { none(); return v == off || set(v) }
	}
	return []Setting{
		row("EMBEDDING_DIMENSION", automatic, Safe|Own, "a whole number from 1 to 65536, or auto", or(automatic, whole(1, 1<<16, &c.Dense.Dimension))),
		row("EMBEDDING_METRIC", "cosine", Safe|Own, aText, text(new(string))).without("cosine is the only metric"),
		row("EMBEDDING_TOKENS", "400", Safe|Own, "a whole number from 1 to 100000", whole(1, 100_000, &c.Dense.Tokens)),
		row("EMBEDDING_QUERY_PREFIX", "", Raw|Own, aText, text(&c.Dense.QueryPrefix)),
		row("EMBEDDING_PASSAGE_PREFIX", "", Raw|Own, aText, text(&c.Dense.PassagePrefix)),
		row("REBUILD_INDEX", "0", 0, "0 or 1", func(v string) (ok bool) {
			var err error
			c.Dense.Rebuild, err = strconv.ParseBool(v)
			return err == nil
		}),
		row("RETRIEVAL_PRESET", "none", FirstPage|Safe, "one of none, "+strings.Join(ragflow.PresetNames(), ", "), or("none", oneOf(ragflow.PresetNames(), &c.Preset))),
		row("RETRIEVAL_FUSION", automatic, Safe, "one of auto, "+strings.Join(rank.Methods(), ", "), or(automatic, oneOf(rank.Methods(), &r.Fusion.Method))).
			shows(func(c ragflow.Config) any {
				method := c.Retrieval.Fusion.Method
				return either(method == r.Fusion.Method, cmp.Or(method, rank.ReciprocalRank), automatic)
			}),
		row("RETRIEVAL_ALPHA", automatic, Safe, "a number from 0 (words only) to 1 (meaning only), or auto", or(automatic, alpha(&c.Dense))).
			shows(func(c ragflow.Config) any { return either(c.Dense.Alpha > 0, c.Dense.Alpha, automatic) }),
		weighing("RAG_VECTOR_WEIGHT", "0.3", &weights.Dense, func(w search.Weights) float64 { return w.Dense }),
		weighing("RAG_KEYWORD_WEIGHT", "0.7", &weights.Lexical, func(w search.Weights) float64 { return w.Lexical }),
		weighing("RAG_GRAPH_WEIGHT", "0", &weights.Graph, func(w search.Weights) float64 { return w.Graph }),
		row("RETRIEVAL_GRAPH", automatic, Safe, "auto, off, or 1, 2 or 3 hops", or(automatic, orOff(func() { r.Hops = -1 }, whole(1, search.MaxHops, &r.Hops)))).
			shows(func(c ragflow.Config) any { return either(c.Retrieval.Hops > 0, c.Retrieval.Hops, off) }),
		row("RETRIEVAL_MULTI_SOURCE", off, Zero|Safe, "a number from 1 to 10, or off",
			orOff(func() { r.Fusion.MultiSource = 1 }, numeric(1, 10, &r.Fusion.MultiSource))).
			shows(func(c ragflow.Config) any {
				f := c.Retrieval.Fusion
				return either(f.Method == rank.ByWeight && f.MultiSource != 1, cmp.Or(f.MultiSource, rank.DefaultMultiSource), off)
			}),
		row("RETRIEVAL_THRESHOLD", off, Zero|Safe, aFraction+", or off",
			orOff(func() { r.Fusion.Threshold = -1 }, fraction(&r.Fusion.Threshold))).called("RAG_MIN_SCORE_THRESHOLD").
			shows(func(c ragflow.Config) any {
				f := c.Retrieval.Fusion
				return either(f.Method == rank.ByWeight && f.Threshold >= 0, cmp.Or(f.Threshold, rank.DefaultThreshold), off)
			}),
		row("RAG_MAX_RESULTS", results, Zero|Safe, "a whole number from 1 to 1000", whole(1, MostHits, &r.TopK)).
			shows(func(c ragflow.Config) any { return either(c.Preset != "", ragflow.PresetNamed(c.Preset).TopK, results) }),
		row("MMR_LAMBDA", "", Safe, "a number from 0 to 1", numeric(0, 1, new(float64))).
			without("relevance and novelty count the same; RERANKING=mmr uses them"),
		row("RAG_QUERY_EXPANSION", "", Safe, aTruth, truth(new(bool))).
			without("RAGFLOW_DICTIONARY adds words of yours to a question, LLM_TRANSFORMS queries of a model"),
		row("RAG_ENABLE_CACHING", "", Safe, aTruth, truth(new(bool))).without("vectors are kept in the index, and each answer is made again"),
		row("RAG_CACHE_TTL_SECONDS", "", Safe, "a whole number of seconds from 1 to 31536000", whole(1, 31_536_000, new(int))).
			without("vectors are kept in the index as long as their documents"),
		row("RERANKING_ENABLED", "true", Zero|Safe, aTruth, func(v string) bool {
			if v == "false" {
				r.Rerank = search.RerankOff
			}
			return v == "true" || v == "false"
		}).shows(func(c ragflow.Config) any { return c.Retrieval.Rerank != search.RerankOff }),
		row("RERANKING", search.RerankAuto, FirstPage|Zero|Safe, "one of "+strings.Join(search.RerankMethods(), ", "), oneOf(search.RerankMethods(), &r.Rerank)).
			shows(func(c ragflow.Config) any { return cmp.Or(c.Retrieval.Rerank, search.RerankAuto) }),
		ofRanking("BM25_K1", 10, &ranking.K1),
		ofRanking("BM25_B", 1, &ranking.B),
		ofRanking("BM25_TITLE", 100, &ranking.Title),
		ofRanking("BM25_HEADINGS", 100, &ranking.Heading),
		ofRanking("BM25_DOCUMENT", 100, &ranking.Document),
	}
}

func chunkTable(c *ragflow.Config) []Setting {
	o := &c.Chunking
	overlap := whole(0, 4096, &o.Overlap)
	return []Setting{
		row("RAGFLOW_CHUNKER", "adaptive", FirstPage|Zero|Safe|Own, "one of "+strings.Join(chunk.Chunkers(), ", "), oneOf(chunk.Chunkers(), &o.Chunker)).
			shows(func(c ragflow.Config) any { return cmp.Or(c.Chunking.Chunker, chunk.Adaptive) }),
		row("CHUNK_SIZE", "512", FirstPage|Zero|Safe|Own, "a whole number of tokens from 16 to 8192", whole(16, 8192, &o.Size)).
			shows(func(c ragflow.Config) any { return cmp.Or(c.Chunking.Size, 512) }),
		row("CHUNK_OVERLAP", "50", FirstPage|Zero|Safe|Own, "a whole number of tokens from 0 to 4096", func(v string) bool {
			ok := overlap(v)
			if o.Overlap == 0 {
				o.Overlap = -1 // none, where 0 is the default
			}
			return ok
		}),
		row("SEMANTIC_MODEL", "words", Zero, "words, or the name of the embedding model", or("words", name(&o.Semantic.Model))),
		row("SEMANTIC_SPLIT_ON", "sentences", Zero|Safe, "sentences or paragraphs", oneOf([]string{"sentences", "paragraphs"}, &o.Semantic.SplitOn)),
		row("SEMANTIC_PRESERVE_CONTEXT", "true", Zero|Safe, aTruth, func(v string) bool {
			o.Semantic.Apart = v == "false"
			return v == "true" || v == "false"
		}),
		row("SEMANTIC_THRESHOLD", "0.5", Zero|Safe, aFraction, fraction(&o.Semantic.Threshold)),
	}
}

// either returns a value that is in force, or a word for none.
func either(in bool, value any, word string) any {
	if !in {
		return word
	}
	return value
}

// settingsInForce are the settings of a question with all defaults filled in.
func settingsInForce(c ragflow.Config) ragflow.Settings {
	s, _ := c.ResolveSettings(c.Settings) // faults are those of the command that uses them
	return s
}
