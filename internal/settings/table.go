package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/checkpoint/postgres"
	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/ocr"
	"example.com/ragflow/internal/rank"
	"example.com/ragflow/internal/telemetry"
	"example.com/ragflow/nodes"
	"example.com/ragflow/search"
)

// Values of settings: the program chooses, and a feature is off.
const (
	automatic = "auto"
	off       = "off"
)

// MaxHits is the greatest number of passages that a search lists.
const MaxHits = 1000

// Names of settings that this package treats specially.
const (
	dataDirName = "RAGFLOW_DATA_DIR"
	docsName    = "RAGFLOW_DOCS"
)

const (
	aTruth    = "true or false"
	aText     = "a text"
	aFraction = "a number above 0 and up to 1"
	someTexts = "a whole number of tokens from 1 to 1000000"
)

// tableOf lists the settings in the order in which people see them. Their values go into c, or
// into m if they are about models.
func tableOf(c *ragflow.Config, dataDir string, m *Models) []setting {
	return slices.Concat(generalTable(c, dataDir, m), retrievalTable(c), chunkTable(c), indexTable(c), modelTable(c, m), telemetryTable(&m.Telemetry))
}

func generalTable(c *ragflow.Config, dataDir string, m *Models) []setting {
	return []setting{
		row(dataDirName, dataDir, firstPage|isPath, "a folder", func(v string) bool { c.DataDir = v; return v != "" }).
			flagged("data-dir", "keep threads and index in this `DIR` (default: .ragflow of the project, else your data folder)"),
		row(docsName, "", firstPage|isList|isPath|ofCollection, "files and folders", func(v string) bool { c.Docs = append(c.Docs, v); return true }).
			flagged("docs", "answer from this file or folder `PATH`; may be repeated (default: those configured, else all that is indexed)"),
		row("MAX_MESSAGES_BEFORE_SUMMARY", "1500", firstPage|isSafe, someTexts, whole(1, 1_000_000, &c.Settings.SummaryTokens)),
		row("MAX_CONTENT_TOKENS", "4096", firstPage|isSafe, someTexts, whole(1, 1_000_000, &c.Settings.ContentTokens)).
			shows(func(c ragflow.Config) any { return settingsInForce(c).ContentTokens }),
		row("RELEVANCE_THRESHOLD", "0.5", firstPage|isSafe, aFraction, fraction(&c.Settings.Threshold)),
		row("STRICT_CITATIONS", "false", firstPage|isSafe, aTruth, truth(&c.Settings.Strict)),
		row("RAGFLOW_TRUST_DOCUMENTS", "false", 0, aTruth, truth(&c.Settings.Context.TrustDocuments)),
		row("RETRIEVAL_MAX_WORKERS", "4", firstPage|isSafe, "a whole number from 1 to 64", whole(1, 64, &c.Workers)),
		row("RAGFLOW_DICTIONARY", "", firstPage|isPath, `a file with lines such as "leave: holiday, time off"`, text(&c.Dictionary)).
			flagged("dictionary", "search also for the other words that `FILE` lists: lines such as \"leave: holiday, time off\""),
		row("RAGFLOW_OCR", "", firstPage, `languages as tesseract names them, such as "eng+deu", or unset`,
			func(v string) bool { c.OCR = v; return ocr.CheckLanguages(v) }),
		row("RAGFLOW_SYSTEM_PROMPT", "", isPath, "a file with a system prompt that holds {context}", text(&m.systemPrompt)),
		row("RAGFLOW_PROMPTS", "", isPath, "a folder with prompts that take the place of built-in ones", text(&c.Prompts)),
		row("RAGFLOW_STORE", "", firstPage|isAddress, "a URL such as postgres://user@host:5432/database, or unset for threads.db in the data folder",
			func(v string) bool {
				c.ThreadStore, c.Cache.Database, m.store = openPostgres(v), openCache(v), v
				return postgres.CheckURL(v) == nil
			}),
		row("RAGFLOW_DURABILITY", ragflow.ProcessCrash, 0, ragflow.ProcessCrash+" or "+ragflow.PowerLoss,
			oneOf([]string{ragflow.ProcessCrash, ragflow.PowerLoss}, &c.Durability)),
		row("RAGFLOW_QUERY_LOG", "90", 0, "a whole number of days from 1 to 3650, or off", func(v string) bool {
			if v == off {
				c.QueryLogDays = -1
				return true
			}
			return whole(1, 3650, &c.QueryLogDays)(v)
		}).flagged("no-query-log", ""),
		row("RAG_ENABLE_CACHING", "false", 0, "true, false, answers or results", func(v string) bool {
			c.Cache.On, c.Cache.Results = v == "true" || v == "answers", v == "true" || v == "results"
			return c.Cache.On || c.Cache.Results || v == "false"
		}).flagged("no-cache", ""),
		row("RAG_CACHE_TTL_SECONDS", "3600", 0, "a whole number of seconds from 1 to 2592000", func(v string) (ok bool) {
			var seconds int
			ok = whole(1, 30*24*60*60, &seconds)(v)
			c.Cache.TTL = time.Duration(seconds) * time.Second
			return ok
		}),
		row("RAGFLOW_CACHE_MB", "256", 0, "a whole number of megabytes from 1 to 10240", func(v string) (ok bool) {
			var megabytes int
			ok = whole(1, 10<<10, &megabytes)(v)
			c.Cache.MaxBytes = int64(megabytes) << 20
			return ok
		}),
		row("RAGFLOW_SEMANTIC_CACHE", off, 0, "a number from 0.9 to 1, or off", or(off, numeric(0.9, 1, &c.Cache.Similar))),
		row("RAGFLOW_THREAD_KEYS", "", firstPage|isSecret, "keys such as 2026:KEY, KEY being 32 bytes in base64; the first one is the current",
			func(v string) (ok bool) {
				var err error
				c.ThreadKeys, err = ragflow.ParseKeyring(v)
				return err == nil
			}),
	}
}

// Names of settings of LangSmith, as it calls them.
const (
	langSmithKey      = "LANGSMITH_API_KEY"
	langSmithEndpoint = "LANGSMITH_ENDPOINT"
)

// telemetryTable lists the settings of what is recorded. OpenTelemetry reads the receivers of OTLP from the environment
// itself.
func telemetryTable(o *telemetry.Options) []setting {
	return []setting{
		row("RAGFLOW_METRICS", "true", isSafe, aTruth, truth(&o.Metrics)),
		row("RAGFLOW_TRACE_CONTENT", "false", 0, aTruth, truth(&o.Content)),
		row("RAGFLOW_TRACE_OPENINFERENCE", "false", isSafe, aTruth, truth(&o.OpenInference)),
		row("LANGSMITH_TRACING", "false", 0, aTruth, truth(&o.LangSmith.Tracing)),
		row(langSmithEndpoint, "", isAddress, "an http or https address without user, password and query", address(&o.LangSmith.Endpoint)),
		row("LANGSMITH_PROJECT", "", 0, aText, text(&o.LangSmith.Project)),
		row(langSmithKey, "", isSecret, "a key", text(&o.LangSmith.Key)),
	}
}

func retrievalTable(c *ragflow.Config) []setting {
	r, weights := &c.Retrieval, &c.Retrieval.Weights
	results := fmt.Sprintf("%d a query, 10 in a list", nodes.TopK)
	ranking := search.DefaultRanking()
	r.Ranking = &ranking
	ofRanking := func(variable string, most float64, to *float64) setting {
		return row(variable, strconv.FormatFloat(*to, 'g', -1, 64), isSafe, fmt.Sprintf("a number from 0 to %g", most), numeric(0, most, to))
	}
	weighing := func(variable, preset string, to *float64, of func(search.Weights) float64) setting {
		return row(variable, preset, keepsZero|isSafe, "a number from 0 to 1", weight(weights, to)).
			shows(func(c ragflow.Config) any { return of(c.Retrieval.Weights.Only(c.Dense.Leg)) })
	}
	orOff := func(none func(), set setter) setter {
		return func(v string) bool { none(); return v == off || set(v) }
	}
	return []setting{
		row("EMBEDDING_DIMENSION", automatic, isSafe|ofCollection, "a whole number from 1 to 65536, or auto", or(automatic, whole(1, 1<<16, &c.Dense.Dimension))),
		row("EMBEDDING_TOKENS", "400", isSafe|ofCollection, "a whole number from 1 to 100000", whole(1, 100_000, &c.Dense.Tokens)),
		row("EMBEDDING_QUERY_PREFIX", "", isRaw|ofCollection, aText, text(&c.Dense.QueryPrefix)),
		row("EMBEDDING_PASSAGE_PREFIX", "", isRaw|ofCollection, aText, text(&c.Dense.PassagePrefix)),
		row("REBUILD_INDEX", "0", 0, "0 or 1", func(v string) (ok bool) {
			var err error
			c.Dense.Rebuild, err = strconv.ParseBool(v)
			return err == nil
		}),
		row("RETRIEVAL_PRESET", "none", firstPage|isSafe, "one of none, "+strings.Join(ragflow.PresetNames(), ", "), or("none", oneOf(ragflow.PresetNames(), &c.Preset))).
			flagged("preset", "use preset `NAME`: "+strings.Join(ragflow.PresetNames(), ", ")),
		row("RETRIEVAL_FUSION", automatic, isSafe, "one of auto, "+strings.Join(rank.Methods(), ", "), or(automatic, oneOf(rank.Methods(), &r.Fusion.Method))).
			flagged("fusion", "make one list of several by `METHOD`: "+strings.Join(rank.Methods(), ", ")).
			shows(func(c ragflow.Config) any {
				method := c.Retrieval.Fusion.Method
				return either(method == r.Fusion.Method, cmp.Or(method, rank.ReciprocalRank), automatic)
			}),
		row("RETRIEVAL_ALPHA", automatic, isSafe, "a number from 0 (words only) to 1 (meaning only), or auto", or(automatic, alpha(&c.Dense))).
			flagged("alpha", "weight `N` of meaning, from 0 (words only) to 1 (meaning only)").
			shows(func(c ragflow.Config) any { return either(c.Dense.Alpha > 0, c.Dense.Alpha, automatic) }),
		weighing("RAG_VECTOR_WEIGHT", "0.3", &weights.Dense, func(w search.Weights) float64 { return w.Dense }),
		weighing("RAG_KEYWORD_WEIGHT", "0.7", &weights.Lexical, func(w search.Weights) float64 { return w.Lexical }),
		weighing("RAG_GRAPH_WEIGHT", "0", &weights.Graph, func(w search.Weights) float64 { return w.Graph }),
		row("ADAPTIVE_SOURCE_WEIGHTS", off, isSafe, "on: ratings of answers change the weights above, at most to their double or half; or off",
			func(v string) bool { c.AdaptiveWeights = v == "on"; return v == "on" || v == off }),
		row("RETRIEVAL_GRAPH", automatic, isSafe, "auto, off, or 1, 2 or 3 hops", or(automatic, orOff(func() { r.Hops = -1 }, whole(1, search.MaxHops, &r.Hops)))).
			flagged("graph", "follow the relations of the best documents over `HOPS`, 1 to 3, or off").
			shows(func(c ragflow.Config) any { return either(c.Retrieval.Hops > 0, c.Retrieval.Hops, off) }),
		row("RETRIEVAL_MULTI_SOURCE", off, keepsZero|isSafe, "a number from 1 to 10, or off",
			orOff(func() { r.Fusion.MultiSource = 1 }, numeric(1, 10, &r.Fusion.MultiSource))).
			shows(func(c ragflow.Config) any {
				f := c.Retrieval.Fusion
				return either(f.Method == rank.ByWeight && f.MultiSource != 1, cmp.Or(f.MultiSource, rank.DefaultMultiSource), off)
			}),
		row("RETRIEVAL_THRESHOLD", off, keepsZero|isSafe, aFraction+", or off",
			orOff(func() { r.Fusion.Threshold = -1 }, fraction(&r.Fusion.Threshold))).called("RAG_MIN_SCORE_THRESHOLD").
			shows(func(c ragflow.Config) any {
				f := c.Retrieval.Fusion
				return either(f.Method == rank.ByWeight && f.Threshold >= 0, cmp.Or(f.Threshold, rank.DefaultThreshold), off)
			}),
		row("RAG_MAX_RESULTS", results, keepsZero|isSafe, "a whole number from 1 to 1000", whole(1, MaxHits, &r.TopK)).
			shows(func(c ragflow.Config) any { return either(c.Preset != "", ragflow.PresetNamed(c.Preset).TopK, results) }),
		row("RERANKING_ENABLED", "true", keepsZero|isSafe, aTruth, func(v string) bool {
			if v == "false" {
				r.Rerank = search.RerankOff
			}
			return v == "true" || v == "false"
		}).shows(func(c ragflow.Config) any { return c.Retrieval.Rerank != search.RerankOff }),
		row("RERANKING", search.RerankAuto, firstPage|keepsZero|isSafe, "one of "+strings.Join(search.RerankMethods(), ", "), oneOf(search.RerankMethods(), &r.Rerank)).
			flagged("rerank", "put the best passages in order by `METHOD`: "+strings.Join(search.RerankMethods(), ", ")).
			shows(func(c ragflow.Config) any { return cmp.Or(c.Retrieval.Rerank, search.RerankAuto) }),
		ofRanking("BM25_K1", 10, &ranking.K1),
		ofRanking("BM25_B", 1, &ranking.B),
		ofRanking("BM25_TITLE", 100, &ranking.Title),
		ofRanking("BM25_HEADINGS", 100, &ranking.Heading),
		ofRanking("BM25_DOCUMENT", 100, &ranking.Document),
	}
}

func chunkTable(c *ragflow.Config) []setting {
	o := &c.Chunking
	overlap := whole(0, 4096, &o.Overlap)
	return []setting{
		row("RAGFLOW_CHUNKER", "adaptive", firstPage|keepsZero|isSafe|ofCollection, "one of "+strings.Join(chunk.Chunkers(), ", "), oneOf(chunk.Chunkers(), &o.Chunker)).
			flagged("chunker", "how documents are cut: `NAME` is one of "+strings.Join(chunk.Chunkers(), ", ")+" (default: as before, else RAGFLOW_CHUNKER)").
			shows(func(c ragflow.Config) any { return cmp.Or(c.Chunking.Chunker, chunk.Adaptive) }),
		row("CHUNK_SIZE", "512", firstPage|keepsZero|isSafe|ofCollection, "a whole number of tokens from 16 to 8192", whole(16, 8192, &o.Size)).
			flagged("chunk-size", "at most `TOKENS` a passage (default: as before, else CHUNK_SIZE)").
			shows(func(c ragflow.Config) any { return cmp.Or(c.Chunking.Size, 512) }),
		row("CHUNK_OVERLAP", "50", firstPage|keepsZero|isSafe|ofCollection, "a whole number of tokens from 0 to 4096", func(v string) bool {
			ok := overlap(v)
			if o.Overlap == 0 {
				o.Overlap = -1 // none, for 0 is the default
			}
			return ok
		}).
			flagged("overlap", "`TOKENS` of a passage that the next one repeats, if it is cut at a size (default: as before, else CHUNK_OVERLAP)"),
		row("SEMANTIC_MODEL", "words", keepsZero, "words, or the name of the embedding model", or("words", name(&o.Semantic.Model))),
		row("SEMANTIC_SPLIT_ON", "sentences", keepsZero|isSafe, "sentences or paragraphs", oneOf([]string{"sentences", "paragraphs"}, &o.Semantic.SplitOn)),
		row("SEMANTIC_PRESERVE_CONTEXT", "true", keepsZero|isSafe, aTruth, func(v string) bool {
			o.Semantic.Apart = v == "false"
			return v == "true" || v == "false"
		}),
		row("SEMANTIC_THRESHOLD", "0.5", keepsZero|isSafe, aFraction, fraction(&o.Semantic.Threshold)),
	}
}

// either returns value, or word if it is not in force.
func either(in bool, value any, word string) any {
	if !in {
		return word
	}
	return value
}

// settingsInForce returns the settings of a question with all defaults.
func settingsInForce(c ragflow.Config) ragflow.Settings {
	s, _ := c.ResolveSettings(c.Settings) // the command that uses a wrong setting reports it
	return s
}
