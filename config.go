package ragflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/ingest/chunk"
	"example.com/ragflow/internal/dictionary"
	"example.com/ragflow/internal/skills/chain"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/internal/stored"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/prompts"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
)

// Config says how an [Assistant] works. The zero Config keeps threads and
// index in memory, knows no documents and runs offline.
type Config struct {
	// DataDir is the folder for threads.db and index.db, made where it is
	// missing. Empty keeps everything in memory.
	DataDir string
	// ReadOnly opens DataDir for reading only. A folder that cannot be written is
	// opened so by itself: what is there can be listed, shown, exported and
	// searched; what would change it is an error that matches ErrReadOnly. See
	// [Assistant.ReadOnly].
	ReadOnly bool
	// Collection names a collection of DataDir: a set of documents with an index of
	// its own, and so with its own Chunking and Embedder; see [CollectionDir]. Empty
	// is the index that has no name. Threads belong to no collection.
	Collection string
	// Index opens the index of a collection somewhere else than in DataDir, such as on a
	// server. local is an empty index in memory for its use, which its Close closes. nil is
	// the embedded index. See package internal/remote.
	Index func(ctx context.Context, collection string, local search.Backend) (search.Backend, error)
	// ForgetThreads keeps threads in memory, although there is a DataDir: what is
	// asked leaves nothing in threads.db. An evaluation works so.
	ForgetThreads bool
	// Docs are folders and files to answer from. They are indexed, as far as
	// they changed, before the first question.
	Docs []string

	// Chunking says how documents are cut: see package ingest/chunk. A folder that was
	// indexed with KeepChunking is cut as it was noted then, whatever Chunking says.
	Chunking chunk.Options
	// KeepChunking stores Chunking for the folders that are indexed, so that later
	// runs cut them the same way.
	KeepChunking bool

	SummaryTokens    int     // MAX_MESSAGES_BEFORE_SUMMARY: more tokens of live messages are summarised; default 1500
	ContentTokens    int     // MAX_CONTENT_TOKENS: messages given to generate; default 4096
	Threshold        float64 // RELEVANCE_THRESHOLD: a grade of this and more passes; in (0, 1], default 0.5
	Strict           bool    // STRICT_CITATIONS: statements of a model that no source says are dropped, not marked
	RetrievalWorkers int     // RETRIEVAL_MAX_WORKERS: searches side by side; default 4
	Dictionary       string  // RAGFLOW_DICTIONARY: a file of synonyms, in addition to the built-in ones: see dictionary.Read
	// SystemPrompt (RAGFLOW_SYSTEM_PROMPT) is a file with a system prompt for the
	// model that answers; {context} in it is replaced by the sources, see
	// [prompts.Set.WithSystem]. Empty: the built-in one.
	SystemPrompt string
	// Prompts (RAGFLOW_PROMPTS) is a folder with templates that take the place of built-in
	// ones, see [prompts.ReadSet]. Empty: none.
	Prompts string

	// Context says what the context of an answer is made of: at most 6 chunks and
	// 4000 tokens. Its TrustDocuments is RAGFLOW_TRUST_DOCUMENTS.
	Context nodes.ContextOptions

	// Chat is the model that does every task but those of Tasks (SMART_LLM_MODEL);
	// nil works offline. Retries are the model's own: see llm.Retry.
	Chat llm.Chat
	// Tasks (LLM_TASKS, GRADER_LLM_MODEL) are the models of single tasks, by the names of
	// [chain.Tasks].
	Tasks map[string]chain.Task
	// PlainGrades (LLM_GRADER=off) lets no model grade what was found, which saves a call.
	PlainGrades bool
	// Verify (LLM_VERIFY) lets a model read each statement of a model's answer again, beside its
	// source, with one call. What it denies is marked as unsupported.
	Verify bool
	// Speculate (LLM_SPECULATE) lets Chat write the answer while what was found is being graded. An
	// answer is withdrawn before it is shown where the grade asks for another search; what it
	// cost is in the trace. It saves the time of the grade where a server answers requests side by side.
	Speculate bool
	Answers   model.Options // limits of the answers that Chat writes, and how it writes them
	// Fallback (LLM_FALLBACK) are the models that do the work of Chat where it fails, one after
	// the other. Where all fail, the work is done without a model.
	Fallback []llm.Chat
	// Transforms (LLM_TRANSFORMS) are names of [model.Transforms]: Chat adds queries to the
	// question, with one call each.
	Transforms []string
	Embedder   llm.Embedder // EMBEDDING_MODEL: makes the vectors of the dense search; nil searches by words only
	Dense      search.Dense // how the dense search works
	// Reranker is a cross-encoder (RERANK_MODEL): it reads question and passage
	// together and puts the best passages in order; nil: see Retrieval.Rerank.
	Reranker llm.Reranker
	// Retrieval says how the hits of words and meaning become one list.
	Retrieval search.Retrieval
	// Preset is the name of one of [Presets], which fills in what is left zero in Retrieval
	// and Dense; empty: none.
	Preset string
	// Filter says which documents answers and searches may use; zero: all. Where no
	// document passes, questions end with ErrFiltered.
	Filter state.Filter

	// Durability says what a saved step survives: ProcessCrash, which is the
	// default, or PowerLoss.
	Durability string
	// ThreadKeys (RAGFLOW_THREAD_KEYS) encrypt threads.db, see [ParseKeyring]; nil:
	// it is not. Once it is, it opens only with its keys. What was written before
	// is encrypted by [threads.Log.Seal]. The index of the documents is not.
	ThreadKeys *Keyring
	// ThreadStore (RAGFLOW_STORE) opens the store of the threads, for example one on a
	// server; the Assistant closes it. Nil: threads.db in DataDir, to which Durability and
	// ThreadKeys apply.
	ThreadStore func(ctx context.Context, readOnly bool) (threads.Store, error)
	// Drain, once closed, lets questions under way finish their step, save it and
	// end with ErrDrained; they can be resumed. May be nil.
	Drain <-chan struct{}

	// OnBusy says what becomes of a question for a thread on which another is being
	// answered: by default it waits for Wait and is then refused (graph.Reject). With
	// graph.Rollback the other one is stopped and taken back, as a person means who
	// asks anew before the answer is there.
	OnBusy graph.OnBusy

	Wait     time.Duration         // how long a question waits for a thread another run holds; default 30 s
	Progress func(ingest.Progress) // receives how far indexing is, from one goroutine at a time; may be nil
	Observe  func(Event)           // receives the durable events of Ask, in its goroutine; may be nil
	Tokens   func(Token)           // receives the answer while it is written, in the goroutine of Ask; may be nil
	Logger   *slog.Logger          // nil discards
	Clock    func() time.Time
	NewID    func() string // ids of threads, runs and messages; default UUIDs

	topK int // hits of each query of a turn, where Retrieval.TopK or a preset says so; 0: nodes.TopK
}

// Resolve returns c as it is in force: with its preset, and the defaults of what was left zero.
// The error has all faults of c; [Open] refuses them.
func (c Config) Resolve() (Config, error) { return c.withDefaults() }

// withDefaults fills in what was left zero and refuses what makes no sense.
func (c Config) withDefaults() (Config, error) {
	fill := func(v *int, preset int) {
		if *v == 0 {
			*v = preset
		}
	}
	fill(&c.SummaryTokens, nodes.DefaultSummaryTokens)
	fill(&c.ContentTokens, nodes.DefaultContentTokens)
	fill(&c.RetrievalWorkers, nodes.DefaultWorkers)
	if c.Threshold == 0 {
		c.Threshold = nodes.DefaultThreshold
	}
	if c.Wait == 0 {
		c.Wait = 30 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.NewID == nil {
		c.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	var faults []error
	if c.Threshold < 0 || c.Threshold > 1 {
		faults = append(faults, fmt.Errorf("threshold %v is not within 0 and 1", c.Threshold))
	}
	if c.SummaryTokens < 0 || c.ContentTokens < 0 || c.RetrievalWorkers < 0 || c.Wait < 0 {
		faults = append(faults, errors.New("summary tokens, content tokens, retrieval workers and wait must not be negative"))
	}
	if c.Collection != "" {
		faults = append(faults, ingest.CheckCollection(c.Collection))
		if c.DataDir == "" {
			faults = append(faults, fmt.Errorf("collection %q needs a data folder", c.Collection))
		}
	}
	if c.ThreadStore != nil && c.ThreadKeys != nil {
		faults = append(faults, errors.New("ThreadKeys encrypt threads.db only, not the threads on a server"))
	}
	if c.Durability != "" && c.Durability != ProcessCrash && c.Durability != PowerLoss {
		faults = append(faults, fmt.Errorf("durability %q is neither %s nor %s", c.Durability, ProcessCrash, PowerLoss))
	}
	faults = append(faults, c.Chunking.Check(), c.applyPreset(), model.CheckSynthesis(c.Answers.Synthesis), model.CheckTransforms(c.Transforms, c.Embedder != nil))
	if len(c.Transforms) > 0 && c.Chat == nil {
		faults = append(faults, errors.New("transforms of a question need a language model: choose one (SMART_LLM_MODEL)"))
	}
	var err error
	_, c.ContentTokens, c.Context.MaxTokens = c.Answers.Fit(c.ContentTokens, cmp.Or(c.Context.MaxTokens, nodes.MaxContextTokens))
	c.Context, err = c.Context.WithDefaults()
	faults = append(faults, err)
	c.topK = c.Retrieval.TopK
	o := search.Options{Dense: c.Dense, Retrieval: c.Retrieval}
	o.Reranker = c.reranker(prompts.Set{})
	o, err = o.WithDefaults()
	c.Dense, c.Retrieval = o.Dense, o.Retrieval
	return c, errors.Join(append(faults, err)...)
}

// models are the language models by task. There are some where Chat is not nil.
func (c Config) models() chain.Models {
	return chain.Models{Chats: append([]llm.Chat{c.Chat}, c.Fallback...), Tasks: c.Tasks}
}

// reranker is the model that orders passages; nil: none.
func (c Config) reranker(own prompts.Set) search.Reranker {
	switch {
	case c.Retrieval.Rerank == search.RerankLLM && c.Chat != nil:
		r := model.NewReranker(c.models().Chat(chain.Rerank))
		r.Own = own
		return r
	case c.Retrieval.Rerank != search.RerankLLM && c.Reranker != nil:
		return chain.Reranker{Reranker: c.Reranker}
	}
	return nil
}

// scope is what questions are answered from, to be kept in their thread.
func (c Config) scope() *state.Scope {
	s := &state.Scope{Collection: c.Collection, Filter: c.Filter}
	if c.Collection != "" {
		return s // it has folders of its own
	}
	for _, d := range c.Docs {
		if abs, err := filepath.Abs(d); err == nil { // else there is no working folder
			d = abs
		}
		s.Docs = append(s.Docs, d)
	}
	return s
}

// Values of Config.Durability.
const (
	ProcessCrash = "process-crash" // a turn survives the death of the process
	PowerLoss    = "power-loss"    // a turn survives the loss of power too: each step is forced to the disk
)

func (c Config) durability() checkpoint.Durability {
	if c.Durability == PowerLoss {
		return checkpoint.PowerLoss
	}
	return checkpoint.ProcessCrash
}

// Keyring gives the keys of encrypted threads.
type Keyring = checkpoint.Keyring

// ParseKeyring reads keys as RAGFLOW_THREAD_KEYS holds them: entries ID:KEY,
// separated by spaces or commas, the current key first, then those that older
// records still need. KEY is 32 bytes in base64. Empty gives nil: no encryption.
func ParseKeyring(text string) (*Keyring, error) { return checkpoint.ParseKeyring(text) }

// ArchiveError says why a file is not a complete archive of a thread.
type ArchiveError = stored.ArchiveError

// Preset is a choice of settings by name.
type Preset struct {
	Name                     string
	Leg                      string   // LegDense where only meaning is searched; empty: both
	TopK                     int      // passages
	Alpha                    float64  // of the dense leg
	DenseDepth, LexicalDepth int      // 0: twice TopK
	Rerank                   string   // a method of reranking
	Hops                     int      // over which relations of the best hits are followed
	Synthesis                string   // how a model writes the answer; empty: in one call
	Transforms               []string // what a model adds to the question
	Chunker                  string   // how documents are cut; empty: as without the preset
	ChunkSize                int      // most tokens of a chunk; 0: the default
}

// Presets lists the presets. "fast", "accurate" and "code" are known by how many
// hits each leg gives, the others by what the search is for. They matter where an
// embedding model is configured; without one, words are searched. They cut documents where
// folders are indexed with Config.KeepChunking, or where Config.Chunking is that of [Preset.Cut].
func Presets() []Preset {
	return []Preset{
		{Name: "balanced", TopK: 10, Alpha: 0.5, Rerank: search.RerankLLM, Chunker: chunk.Markdown, Synthesis: model.TreeSummarize},
		{Name: "fast", TopK: 5, Leg: search.LegDense, Rerank: search.RerankOff, Chunker: chunk.Recursive},
		{Name: "accurate", TopK: 20, Alpha: 0.5, DenseDepth: 20, LexicalDepth: 10, Rerank: search.RerankAuto, Chunker: chunk.Semantic, Synthesis: model.Refine, Transforms: []string{model.MultiQuery, model.HyDE}},
		{Name: "code", TopK: 15, Alpha: 0.5, DenseDepth: 15, LexicalDepth: 10, Rerank: search.RerankAuto, Chunker: chunk.Code, ChunkSize: 1024, Synthesis: model.Refine},
		{Name: "conservative", TopK: 5, Alpha: 0.7, Rerank: search.RerankAuto},
		{Name: "exploratory", TopK: 20, Alpha: 0.3, Rerank: search.RerankOff, Hops: 1},
	}
}

// Cut returns how documents are cut: as o says, else as the preset says.
func (p Preset) Cut(o chunk.Options) chunk.Options {
	o.Chunker, o.Size = cmp.Or(o.Chunker, p.Chunker), cmp.Or(o.Size, p.ChunkSize)
	return o
}

// PresetNamed returns the preset of a name; the zero Preset, which sets nothing, if there is none.
func PresetNamed(name string) Preset {
	for _, p := range Presets() {
		if p.Name == name {
			return p
		}
	}
	return Preset{}
}

// applyPreset fills in what c leaves zero.
func (c *Config) applyPreset() error {
	if c.Preset == "" {
		return nil
	}
	p, r := PresetNamed(c.Preset), &c.Retrieval
	if p.Name == "" {
		return fmt.Errorf("preset %q is not one of %s", c.Preset, strings.Join(PresetNames(), ", "))
	}
	if c.KeepChunking {
		c.Chunking = p.Cut(c.Chunking)
	}
	r.TopK, r.Rerank, r.Hops = cmp.Or(r.TopK, p.TopK), cmp.Or(r.Rerank, p.Rerank), cmp.Or(r.Hops, p.Hops)
	r.DenseDepth, r.LexicalDepth = cmp.Or(r.DenseDepth, p.DenseDepth), cmp.Or(r.LexicalDepth, p.LexicalDepth)
	if r.Rerank == search.RerankLLM && (c.Chat == nil || c.Reranker != nil) {
		r.Rerank = search.RerankAuto
	}
	if c.Chat != nil {
		c.Answers.Synthesis = cmp.Or(c.Answers.Synthesis, p.Synthesis)
	}
	if c.Chat != nil && len(c.Transforms) == 0 {
		c.Transforms = slices.DeleteFunc(slices.Clone(p.Transforms), func(name string) bool { return name == model.HyDE && c.Embedder == nil })
	}
	if p.Leg != "" && c.Embedder != nil {
		c.Dense.Leg = cmp.Or(c.Dense.Leg, p.Leg)
	}
	if r.Weights == (search.Weights{}) {
		c.Dense.Alpha = cmp.Or(c.Dense.Alpha, p.Alpha)
	}
	return nil
}

// PresetNames lists the names of [Presets].
func PresetNames() []string {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	return names
}

// readDictionary reads the file of synonyms.
func (c Config) readDictionary() (dictionary.Dictionary, error) {
	if c.Dictionary == "" {
		return dictionary.Dictionary{}, nil
	}
	f, err := os.Open(c.Dictionary)
	if err != nil {
		return dictionary.Dictionary{}, fmt.Errorf("open the dictionary: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	d, err := dictionary.Read(f)
	if err != nil {
		return d, fmt.Errorf("read the dictionary %s: %w", c.Dictionary, err)
	}
	return d, nil
}

// ReadPrompts reads and checks the prompts that c names in Prompts and SystemPrompt.
func (c Config) ReadPrompts() (own prompts.Set, err error) {
	if c.Prompts != "" {
		if own, err = prompts.ReadSet(os.DirFS(c.Prompts)); err != nil {
			return own, fmt.Errorf("read the prompts in %s: %w", c.Prompts, err)
		}
	}
	if c.SystemPrompt == "" {
		return own, nil
	}
	f, err := os.Open(c.SystemPrompt)
	if err != nil {
		return own, fmt.Errorf("open the system prompt: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	written, err := io.ReadAll(io.LimitReader(f, prompts.MaxFile+1))
	if err != nil {
		return own, fmt.Errorf("read the system prompt: %w", err)
	}
	if own, err = own.WithSystem(string(written)); err != nil {
		return own, fmt.Errorf("%s: %w", c.SystemPrompt, err)
	}
	return own, nil
}
