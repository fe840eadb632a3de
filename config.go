package ragflow

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/ingest/load"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
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
	// ForgetThreads keeps threads in memory, although there is a DataDir: what is
	// asked leaves nothing in threads.db. An evaluation works so.
	ForgetThreads bool
	// Docs are folders and files to answer from. They are indexed, as far as
	// they changed, before the first question.
	Docs []string
	// Given are documents that lie in no file. With any, the index is kept in
	// memory, for as long as the Assistant lives; the one in DataDir is left alone.
	Given []Given

	// Chunking says how documents are cut: see package corpus. A folder that was
	// indexed with KeepChunking is cut as it was noted then, whatever Chunking says.
	Chunking load.ChunkOptions
	// KeepChunking notes Chunking for the folders that are indexed, so that later
	// runs cut them the same way.
	KeepChunking bool

	SummaryTokens    int     // MAX_MESSAGES_BEFORE_SUMMARY: more tokens of live messages are summarised; default 1500
	ContentTokens    int     // MAX_CONTENT_TOKENS: messages given to generate; default 4096
	Threshold        float64 // RELEVANCE_THRESHOLD: a grade of this and more passes; in (0, 1], default 0.5
	Strict           bool    // STRICT_CITATIONS: statements of a model that no source says are dropped, not marked
	RetrievalWorkers int     // RETRIEVAL_MAX_WORKERS: searches side by side; default 4
	Dictionary       string  // RAGFLOW_DICTIONARY: a file of words that stand for others, besides those built in: see offline.ReadDictionary, and offline.ReadDictionaryYAML for .yaml and .yml
	// SystemPrompt (RAGFLOW_SYSTEM_PROMPT) is a file with a system prompt for the
	// model that answers; {context} in it is where the sources stand, see
	// prompts.SystemTemplate. Empty: the built-in one.
	SystemPrompt string

	// Context says what the context of an answer is made of: at most 6 chunks and
	// 4000 tokens. Its TrustDocuments is RAGFLOW_TRUST_DOCUMENTS.
	Context nodes.ContextOptions

	// Chat is the model that rewrites, summarises and answers (SMART_LLM_MODEL);
	// nil works offline. Retries are the model's own: see llm.Retry.
	Chat     llm.Chat
	Grader   llm.Chat     // GRADER_LLM_MODEL: grades what was found; nil: Chat does
	Embedder llm.Embedder // EMBEDDING_MODEL: makes the vectors of the dense search; nil searches by words only
	Dense    Dense        // how the dense search works
	// Reranker is a cross-encoder (RERANK_MODEL): it reads question and passage
	// together and puts the best passages in order; nil: see Retrieval.Rerank.
	Reranker llm.Reranker
	// Retrieval says how what words and meaning find becomes one list.
	Retrieval Retrieval
	// Filter says which documents answers and searches may use; zero: all. Where no
	// document passes, questions end with ErrFiltered.
	Filter state.Filter

	// Durability says what a saved step survives: ProcessCrash, which is the
	// default, or PowerLoss.
	Durability string
	// ThreadKeys (RAGFLOW_THREAD_KEYS) encrypt threads.db, see [ParseKeyring]; nil:
	// it is not. Once it is, it opens only with its keys. What was written before
	// is encrypted by [Assistant.SealThreads]. The index of the documents is not.
	ThreadKeys *Keyring
	// Drain, once closed, lets questions under way finish their step, save it and
	// end with ErrDrained; they can be resumed. May be nil.
	Drain <-chan struct{}

	// OnBusy says what becomes of a question for a thread on which another is being
	// answered: by default it waits for Wait and is then refused (graph.Reject). With
	// graph.Rollback the other one is stopped and taken back, as a person means who
	// asks anew before the answer is there.
	OnBusy graph.OnBusy

	Wait     time.Duration  // how long a question waits for a thread another run holds; default 30 s
	Progress func(Progress) // told about indexing, from one goroutine at a time; may be nil
	Observe  func(Event)    // told of the durable events of Ask, from its goroutine; may be nil
	Tokens   func(Token)    // told of the answer while a model writes it, by Ask, from its goroutine; may be nil
	Logger   *slog.Logger   // nil discards
	Clock    func() time.Time
	NewID    func() string // ids of threads, runs and messages; default UUIDs
}

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
	if c.Collection != "" && (!collectionName(c.Collection) || c.DataDir == "") {
		faults = append(faults, fmt.Errorf("collection %q: %w; it needs a data folder", c.Collection, ErrCollectionName))
	}
	if c.Durability != "" && c.Durability != ProcessCrash && c.Durability != PowerLoss {
		faults = append(faults, fmt.Errorf("durability %q is neither %s nor %s", c.Durability, ProcessCrash, PowerLoss))
	}
	faults = append(faults, c.Chunking.Check())
	var err error
	c.Context, err = c.Context.WithDefaults()
	faults = append(faults, err)
	return c, errors.Join(append(faults, c.retrieval())...)
}

// Facts about threads and where they are kept; match them with errors.Is.
var (
	ErrThreadExists  = graph.ErrExists          // the name of a new thread is taken
	ErrNothingToUndo = threads.ErrNothingToUndo // the thread has no turn left in its log
	ErrSuperseded    = graph.ErrSuperseded      // another process took the thread over; nothing was saved
	ErrDrained       = graph.ErrDrained         // Config.Drain was closed; the run can be resumed
	ErrDiskFull      = sqlite.ErrFull           // nothing of the step was saved
	ErrDisk          = sqlite.ErrIO             // the disk cannot be read or written
	ErrReadOnly      = sqlite.ErrReadOnly       // the data folder cannot be written to
	ErrLocked        = sqlite.ErrLocked         // another process, perhaps a stopped one, holds the database; nothing was saved
	ErrKey           = checkpoint.ErrKey        // the threads are encrypted, and the key is missing or wrong
)

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

// ArchiveError tells why a file is not a whole archive of a thread.
type ArchiveError = checkpoint.ArchiveError
