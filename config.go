package ragflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"example.com/ragflow/agent"
	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/dictionary"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/internal/stored"
	"example.com/ragflow/llm"
	"example.com/ragflow/longterm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/prompts"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
)

// Config is what an [Assistant] has for all its questions: places, models, limits. The zero
// Config keeps threads and index in memory, knows no documents and uses no model. Settings
// that one question may change are in [Settings].
type Config struct {
	// DataDir is the folder for threads.db and index.db. It is created if it is missing.
	// Empty keeps everything in memory.
	DataDir string
	// ReadOnly opens DataDir for reading only. A folder that cannot be written to is opened
	// so in any case; a change is then an error that matches ErrReadOnly.
	ReadOnly bool
	// Docs are folders and files to answer from. They are indexed, as far as they changed,
	// before the first question.
	Docs []string
	// Collection names the default collection of DataDir: documents with an index of their
	// own. It is made if there is none. Empty is the index without a name.
	Collection string
	// Index opens the index of a collection outside of DataDir, for example on a server;
	// the Assistant closes it. Nil: the embedded index.
	Index func(ctx context.Context, collection string) (search.Backend, error)

	// Threads is an opened store of threads, which several assistants may share; the caller
	// closes it. Nil: see ThreadStore.
	Threads threads.Store
	// ThreadStore opens the store of the threads, for example on a server; the Assistant
	// closes it. Nil: threads.db in DataDir.
	ThreadStore func(ctx context.Context, readOnly bool) (threads.Store, error)
	// ForgetThreads keeps threads in memory although there is a DataDir, as an evaluation does.
	ForgetThreads bool
	// ThreadKeys encrypt threads.db, see [ParseKeyring]; nil: it is not encrypted. Earlier
	// records are encrypted by [threads.Log.Seal]. The index is never encrypted.
	ThreadKeys *Keyring
	// QueryLogDays is how many days DataDir keeps a record of each question and search, for
	// [Assistant.Analytics]; 0: 90; below zero: none is kept. A log that cannot be written fails
	// no question. With ThreadKeys it is encrypted.
	QueryLogDays int
	// Cache keeps answers for questions that are asked again; by default there is none.
	Cache Cache
	// Durability says what a saved step of threads.db survives: ProcessCrash, the default,
	// or PowerLoss.
	Durability string

	// Chunking says how documents are cut; see [ingest.Chunking]. A folder that was
	// indexed with KeepChunking is cut as it was then.
	Chunking ingest.Chunking
	// KeepChunking stores Chunking for the folders that are indexed.
	KeepChunking bool
	// OCR names the languages, such as "eng+deu", in which the program tesseract of the machine
	// reads the pages of PDFs that are pictures; empty: they are left out. Without the program
	// the error of Open matches ErrNoOCR.
	OCR string
	// Dictionary is a file of synonyms, in addition to the built-in ones.
	Dictionary string
	// Prompts is a folder with templates that replace built-in ones; see [prompts.ReadSet].
	Prompts string

	// Models are the models by name and task; zero: everything works without one.
	Models Models
	// Dense configures the search by vectors.
	Dense search.Dense
	// Retrieval configures how the hits of words and vectors become one list.
	Retrieval search.Retrieval
	// AdaptiveWeights multiplies the weights of the legs of the search by what the ratings in
	// DataDir taught: at most doubled or halved.
	AdaptiveWeights bool
	// Settings are those of a question that has none of its own.
	Settings Settings
	// Preset is the name of one of [Presets], which fills in what is left zero in Retrieval,
	// Dense and Settings; empty: none.
	Preset string

	// Workers is the number of concurrent searches of one question; default 4.
	Workers int
	// Wait is how long a question waits for a thread that another run holds; default 30 s.
	Wait time.Duration
	// Hook gets the spans of runs, steps and tasks; may be nil.
	Hook graph.Hook
	// Observer gets each search that is not from the cache, also those outside of runs; may be nil.
	Observer search.Observer
	// Logger gets technical messages; nil discards them.
	Logger *slog.Logger
	// Clock returns the time; default time.Now. Several goroutines call it at once.
	Clock func() time.Time
	// NewID returns the IDs of threads, runs and messages; default UUIDs.
	NewID func() string
}

// Models are the models of an [Assistant], and what they may use as agents.
type Models struct {
	// Chat does all tasks but those of Tasks; nil: everything works without a language
	// model. Retries are its own, see llm.Retry; several models in turn are an llm.Fallback.
	// If it fails, the work is done without a model.
	Chat llm.Chat
	// Named are the models that Settings.Model may name instead of Chat.
	Named map[string]llm.Chat
	// Tasks are models of single tasks, by the names of [Tasks].
	Tasks map[string]llm.Task
	// Embedder makes the vectors of the dense search; nil: searches are by words only.
	Embedder llm.Embedder
	// Reranker is a cross-encoder, which reads question and passage together; nil: see
	// Retrieval.Rerank.
	Reranker llm.Reranker
	// Tools are what an agent may call beside the search, for example those of package
	// agent/mcp. A result becomes a source, which the answer may cite and is checked against.
	Tools []agent.Tool
	// Memory keeps what an agent remembers, for each owner of threads apart; the caller closes
	// it. Nil: an agent remembers nothing.
	Memory *longterm.Store
}

// Settings say how one question is answered; see [state.Settings] for the fields. Zero fields
// are defaults.
type Settings = state.Settings

// Resolve returns c with all defaults filled in. The error has all faults of c; [Open]
// refuses them.
func (c Config) Resolve() (Config, error) { return c.withDefaults() }

// withDefaults fills in what was left zero and refuses what makes no sense.
func (c Config) withDefaults() (Config, error) {
	c.Workers, c.Wait = cmp.Or(c.Workers, nodes.DefaultWorkers), cmp.Or(c.Wait, 30*time.Second)
	c.QueryLogDays = cmp.Or(c.QueryLogDays, defaultLogDays)
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
	if c.Workers < 0 || c.Wait < 0 {
		faults = append(faults, errors.New("workers and wait must not be negative"))
	}
	if c.Collection != "" {
		faults = append(faults, ingest.CheckCollection(c.Collection))
		if c.DataDir == "" {
			faults = append(faults, fmt.Errorf("collection %q needs a data folder", c.Collection))
		}
	}
	if (c.ThreadStore != nil || c.Threads != nil) && c.ThreadKeys != nil {
		faults = append(faults, errors.New("ThreadKeys encrypt threads.db only, not the threads on a server"))
	}
	faults = append(faults, c.Cache.check())
	if c.Durability != "" && c.Durability != ProcessCrash && c.Durability != PowerLoss {
		faults = append(faults, fmt.Errorf("durability %q is neither %s nor %s", c.Durability, ProcessCrash, PowerLoss))
	}
	faults = append(faults, c.Chunking.Check(), c.applyPreset())
	c.Settings.TopK = cmp.Or(c.Settings.TopK, c.Retrieval.TopK)
	_, err := c.ResolveSettings(c.Settings)
	faults = append(faults, err)
	o := search.Options{Dense: c.Dense, Retrieval: c.Retrieval, Reranker: c.reranker(prompts.Set{})}
	o, err = o.WithDefaults()
	c.Dense, c.Retrieval = o.Dense, o.Retrieval
	return c, errors.Join(append(faults, err)...)
}

// ResolveSettings fills in the settings of a question that were left zero and refuses what makes no
// sense. The error has all faults.
func (c Config) ResolveSettings(s Settings) (Settings, error) {
	var faults []error
	if s.Threshold == 0 {
		s.Threshold = nodes.DefaultThreshold
	}
	if !(s.Threshold > 0 && s.Threshold <= 1) {
		faults = append(faults, fmt.Errorf("threshold %v is not within 0 and 1", s.Threshold))
	}
	if s.SummaryTokens < 0 || s.ContentTokens < 0 || s.TopK < 0 || s.Tokens < 0 || s.Window < 0 || s.MinScore < 0 {
		faults = append(faults, errors.New("tokens, top k and scores of settings must not be negative"))
	}
	s.SummaryTokens = cmp.Or(s.SummaryTokens, nodes.DefaultSummaryTokens)
	s.TopK = cmp.Or(s.TopK, nodes.TopK)
	chat, err := c.chat(s)
	faults = append(faults, err, model.CheckSynthesis(s.Synthesis), model.CheckTransforms(s.Transforms, c.Models.Embedder != nil))
	if len(s.Transforms) > 0 && chat == nil {
		faults = append(faults, errors.New("transforms of a question need a language model: choose one (SMART_LLM_MODEL)"))
	}
	if t := s.Temperature; t != nil && !(*t >= 0 && *t <= 2) {
		faults = append(faults, fmt.Errorf("temperature %v is not within 0 and 2", *t))
	}
	s.Speculate = s.Speculate && chat != nil && !s.NoModelGrading
	_, s.ContentTokens, s.Context.MaxTokens = answerOptions(s).Fit(
		cmp.Or(s.ContentTokens, nodes.DefaultContentTokens), cmp.Or(s.Context.MaxTokens, nodes.MaxContextTokens),
	)
	context, err := nodes.ContextOptions(s.Context).WithDefaults()
	s.Context = state.ContextOptions(context)
	return s, errors.Join(append(faults, err)...)
}

// ErrNoSuchModel is the error of a question with an unknown Settings.Model.
var ErrNoSuchModel = errors.New("there is no model of this name")

// chat returns the language model of a question; nil: none.
func (c Config) chat(s Settings) (llm.Chat, error) {
	switch {
	case s.Offline:
		return nil, nil //nolint:nilnil // no model is a choice, not an error
	case s.Model == "":
		return c.Models.Chat, nil
	}
	chat, ok := c.Models.Named[s.Model]
	if !ok && len(c.Models.Named) == 0 {
		return nil, fmt.Errorf("model %q: %w; Config.Models.Named has none", s.Model, ErrNoSuchModel)
	}
	if !ok {
		return nil, fmt.Errorf("model %q: %w; there are %s", s.Model, ErrNoSuchModel, strings.Join(slices.Sorted(maps.Keys(c.Models.Named)), ", "))
	}
	return chat, nil
}

// answerOptions are how a model writes an answer.
func answerOptions(s Settings) model.Options {
	return model.Options{Tokens: s.Tokens, Temperature: s.Temperature, Window: s.Window, Synthesis: s.Synthesis, NoRefusals: s.NoRefusals}
}

// Tasks lists the names of Models.Tasks.
func Tasks() []string { return model.Tasks() }

// reranker is the model that orders passages; nil: none.
func (c Config) reranker(custom prompts.Set) llm.Reranker {
	switch {
	case c.Retrieval.Rerank == search.RerankLLM && c.Models.Chat != nil:
		r := model.NewReranker(model.Models{Chat: c.Models.Chat, Tasks: c.Models.Tasks}.For(model.TaskRerank))
		r.Custom = custom
		return r
	case c.Retrieval.Rerank != search.RerankLLM && c.Models.Reranker != nil:
		return llm.ObserveReranker(c.Models.Reranker, model.NoteCall)
	}
	return nil
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

// ReadPrompts reads and checks the prompts of the folder that c names.
func (c Config) ReadPrompts() (prompts.Set, error) {
	if c.Prompts == "" {
		return prompts.Set{}, nil
	}
	set, err := prompts.ReadSet(os.DirFS(c.Prompts))
	if err != nil {
		return set, fmt.Errorf("read the prompts in %s: %w", c.Prompts, err)
	}
	return set, nil
}
