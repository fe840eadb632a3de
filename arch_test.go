package ragflow_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/ragflow"
)

const module = "example.com/ragflow"

// room says what a package may import beside the standard library. Rooms are
// named by their folder; "." is the root. Tests may import what testOnly adds.
type room struct {
	ours   []string // packages of this module; "*" means all of them
	theirs []string // third-party modules, each with its reason beside it
}

var rooms = map[string]room{
	"internal/codec": {},
	"graph/schema": {theirs: []string{
		"github.com/google/jsonschema-go", // the schema of a Go type, and whether an answer matches it
	}},
	"internal/active":    {},
	"internal/address":   {},
	"internal/batch":     {},
	"internal/snapshots": {},
	"internal/topology":  {},
	"internal/lifecycle": {theirs: []string{
		"github.com/looplab/fsm", // the lifecycle of a run: legal moves and their diagram
	}},
	"internal/feed": {},
	"internal/lru":  {},
	"graph": {ours: []string{"internal/codec", "graph/reduce", "graph/schema", "internal/active", "internal/address", "internal/batch", "internal/topology", "internal/lifecycle", "internal/lru", "internal/parallel", "internal/snapshots"}, theirs: []string{
		"github.com/google/uuid", // ids of runs
	}},
	"graph/draw":      {ours: []string{"graph"}},
	"internal/stored": {ours: []string{"graph"}},
	"graph/reduce":    {},
	"graph/untyped":   {ours: []string{"graph", "graph/schema"}},
	"graph/memstore":  {ours: []string{"graph", "internal/stored"}},
	"graph/graphtest": {ours: []string{"graph"}},
	"state":           {},
	"internal/text": {theirs: []string{
		"github.com/blevesearch/snowballstem", // stemmers
		"github.com/pkoukk/tiktoken-go",       // in a test: the same tokens
		"golang.org/x/text/unicode/norm",      // NFC
	}},
	"meaning": {ours: []string{"llm"}, theirs: []string{
		"golang.org/x/sys/cpu",           // which instructions the processor has
		"golang.org/x/text/unicode/norm", // NFKC, as the vocabulary of the tokenizer has it
	}},
	"internal/sanitize":   {ours: []string{"internal/text"}},
	"internal/redact":     {},
	"internal/quantity":   {},
	"internal/dictionary": {ours: []string{"internal/text"}},
	"internal/rank":       {ours: []string{"state", "internal/text"}},
	"search": {ours: []string{"llm", "state", "internal/text", "internal/rank"}, theirs: []string{
		"github.com/hbollon/go-edlib",      // the similarity of names by Jaro and Winkler
		"github.com/bmatcuk/doublestar/v4", // globs of paths in filters
	}},
	"internal/skills/cite": {ours: []string{"internal/prompts", "state", "internal/text"}},
	"internal/document":    {ours: []string{"internal/text", "state"}},
	"internal/chunk": {ours: []string{"internal/document", "internal/rank", "internal/text", "state"}, theirs: []string{
		"github.com/google/uuid", // chunk ids (version 5)
	}},
	"internal/ocr": {ours: []string{"internal/newfile"}},
	"internal/folder": {ours: []string{"internal/document"}, theirs: []string{
		"github.com/bmatcuk/doublestar/v4", // globs with **, and the lines of .gitignore
	}},
	"internal/markup": {ours: []string{"internal/document"}, theirs: []string{
		"github.com/yuin/goldmark", // Markdown
	}},
	"internal/quote": {ours: []string{"internal/markup"}},
	"internal/pdf": {ours: []string{"internal/document", "internal/ocr", "internal/text"}, theirs: []string{
		"github.com/klippa-app/go-pdfium", // text and places of PDFs, by the reader of the Chrome browser
		"github.com/tetratelabs/wazero",   // the sandbox that it runs in, without cgo
	}},
	"internal/pdf/pdftest": {},
	"internal/load": {ours: []string{"internal/document", "internal/folder", "internal/markup", "internal/ocr", "internal/pdf", "internal/quote", "state"}, theirs: []string{
		"go.yaml.in/yaml/v4",             // front matter
		"golang.org/x/text",              // encodings of text files
		"golang.org/x/net/html",          // HTML pages and the encodings they declare
		"github.com/gogs/chardet",        // detection of encodings, a port of that of ICU
		"github.com/xuri/excelize/v2",    // workbooks: rows, dates and formats of numbers
		"github.com/emersion/go-message", // parts, encodings and headers of mails
		"github.com/richardlehane/mscfb", // the compound files that Outlook writes
	}},
	"ingest": {ours: []string{"llm", "internal/chunk", "internal/document", "internal/folder", "internal/load", "internal/ocr", "search", "state"}, theirs: []string{
		"golang.org/x/sync/semaphore", // who may read a root or make vectors, in order, until a context ends
	}},
	"search/searchtest": {ours: []string{"search", "state"}},
	"internal/index": {ours: []string{"search", "internal/text", "state", "internal/parallel", "internal/sqlite"}, theirs: []string{
		"github.com/bits-and-blooms/bitset", // sets of files and chunks, 64 in a word
		"golang.org/x/sys/cpu",              // whether the processor has the instructions of the dot product
	}},
	"internal/seal": {},
	"checkpoint": {ours: []string{"graph", "internal/seal", "internal/stored", "internal/sqlite"}, theirs: []string{
		"golang.org/x/sys/unix", // whether a process of macOS has ended and waits for its parent
	}},
	"checkpoint/postgres": {ours: []string{"graph", "internal/stored"}, theirs: []string{
		"github.com/jackc/pgx/v5", // PostgreSQL's protocol, a pool, and notifications
	}},
	"internal/remote": {ours: []string{"search", "internal/text", "state"}, theirs: []string{
		"github.com/google/uuid", // ids made of content (version 5)
	}},
	"search/pgvector": {ours: []string{"search", "internal/remote", "state"}, theirs: []string{
		"github.com/jackc/pgx/v5", // PostgreSQL's protocol, with a pool
	}},
	"search/weaviate": {ours: []string{"search", "internal/remote", "state"}, theirs: []string{
		"github.com/weaviate/weaviate-go-client/v4", // the client that the server's makers keep
		"github.com/weaviate/weaviate/entities",     // the objects and classes that it takes
		"github.com/go-openapi/strfmt",              // the type of their ids
		"golang.org/x/sync/errgroup",                // batches sent side by side
	}},
	"agent": {ours: []string{"graph", "llm", "state"}, theirs: []string{
		"github.com/google/jsonschema-go", // the schema of a Go struct, and whether arguments match it
		"github.com/google/uuid",          // ids of messages
	}},
	"agent/mcp": {ours: []string{"agent"}, theirs: []string{
		"github.com/modelcontextprotocol/go-sdk", // the protocol, by the official SDK
	}},
	"longterm": {ours: []string{"internal/sqlite", "llm", "internal/text"}},
	"longterm/postgres": {ours: []string{"longterm"}, theirs: []string{
		"github.com/jackc/pgx/v5", // PostgreSQL's protocol, with a pool
	}},
	"longterm/longtermtest": {ours: []string{"llm", "longterm"}, theirs: []string{
		"github.com/google/go-cmp", // differences, as in all tests
	}},
	"examples/firstgraph":      {ours: []string{"graph", "graph/memstore"}},
	"examples/approval":        {ours: []string{"agent", "graph", "graph/memstore", "llm", "llm/providers"}},
	"examples/supervisor":      {ours: []string{"agent", "graph", "llm", "llm/providers"}},
	"examples/mapreduce":       {ours: []string{"graph"}},
	"examples/humanform":       {ours: []string{"graph", "graph/memstore"}},
	"examples/longjob":         {ours: []string{"checkpoint", "graph"}},
	"examples/timetravel":      {ours: []string{"graph", "graph/memstore"}},
	"examples/streaming":       {ours: []string{"agent", "graph", "graph/memstore", "llm", "llm/providers"}},
	"examples/evaluation":      {ours: []string{"graph", "llm", "llm/providers"}},
	"examples/customstore":     {ours: []string{"checkpoint", "graph"}},
	"examples/langgraph":       {ours: []string{"agent", "checkpoint", "graph", "graph/draw", "graph/memstore", "graph/reduce", "llm", "longterm"}},
	"examples/twousers":        {ours: []string{".", "llm", "llm/openai", "state"}},
	"examples/langgraphserver": {ours: []string{"graph", "graph/memstore", "graph/untyped", "server"}},
	"examples/migration":       {ours: []string{"graph", "graph/memstore"}},
	"llm":                      {},
	"internal/llmtest":         {ours: []string{"llm"}},
	"llm/rerank":               {ours: []string{"internal/llmclient", "llm"}},
	"internal/prompts":         {},
	"prompts":                  {ours: []string{"internal/prompts"}},
	"internal/llmclient": {ours: []string{"llm"}, theirs: []string{
		"github.com/openai/openai-go/v3", // OpenAI's API, which most providers and local servers speak
	}},
	"llm/openai": {ours: []string{"internal/llmclient", "llm"}, theirs: []string{
		"github.com/openai/openai-go/v3", // its types of requests
	}},
	"llm/anthropic": {ours: []string{"internal/llmclient", "llm"}, theirs: []string{
		"github.com/openai/openai-go/v3", // options of a request
	}},
	"llm/providers": {ours: []string{"llm", "llm/anthropic", "llm/openai"}, theirs: []string{
		"golang.org/x/time/rate", // requests a minute
	}},
	"internal/skills/readable": {ours: []string{"internal/text", "internal/sanitize", "internal/skills/cite"}},
	"internal/skills/table":    {ours: []string{"internal/quantity", "internal/skills/readable", "internal/text", "state", "internal/prompts", "internal/skills/cite"}},
	"internal/skills/offline": {ours: []string{"internal/skills/readable", "internal/dictionary", "internal/text", "state", "internal/prompts", "internal/skills/cite", "internal/lru", "internal/parallel", "internal/skills/table"}, theirs: []string{
		"golang.org/x/text/unicode/norm", // takes the accents off words whose meaning is looked up
	}},
	"scripts/learn-answers": {ours: []string{".", "eval", "search", "internal/index", "internal/text", "internal/skills/offline", "state", "llm", "meaning"}},
	"nodes": {ours: []string{"graph", "state", "internal/prompts", "internal/text", "internal/rank", "internal/redact", "internal/sanitize", "internal/skills/cite", "internal/lru"}, theirs: []string{
		"github.com/google/uuid", // message ids
	}},
	"internal/transcript": {ours: []string{"graph", "llm", "state", "internal/text", "internal/sanitize", "internal/prompts", "internal/skills/cite"}},
	"eval": {ours: []string{".", "internal/transcript", "ingest", "search", "state", "internal/text", "internal/rank", "internal/skills/cite", "internal/chunk", "internal/document", "internal/folder", "internal/load", "internal/index", "llm", "meaning", "nodes", "internal/skills/offline", "internal/prompts", "prompts"}, theirs: []string{
		"golang.org/x/sync/errgroup", // a bounded group of workers that ends with the first error
	}},
	"internal/beir": {},
	"eval/field": {ours: []string{".", "llm", "llm/openai"}, theirs: []string{
		"golang.org/x/net/html", // text of the pages that the questions were written from
	}},
	"eval/tables":           {ours: []string{"."}},
	"internal/skills/model": {ours: []string{"agent", "graph", "llm", "nodes", "internal/prompts", "internal/text", "state", "internal/sanitize", "internal/skills/cite", "internal/skills/offline"}},
	"internal/tune":         {ours: []string{"eval"}},
	"internal/prices":       {ours: []string{"llm"}},
	"internal/feedback": {ours: []string{"internal/newfile", "internal/rank", "internal/skills/cite", "state"}, theirs: []string{
		"go.yaml.in/yaml/v4", // front matter of promoted answers
	}},
	"internal/querylog": {ours: []string{"internal/rank", "internal/redact", "internal/seal", "internal/sqlite", "internal/text"}, theirs: []string{
		"github.com/google/uuid", // ids of searches
	}},
	"internal/cache": {ours: []string{"internal/seal", "internal/sqlite"}},
	"threads":        {ours: []string{"graph", "internal/stored", "internal/text", "state", "internal/transcript"}},
	".": {ours: []string{"agent", "longterm", "internal/dictionary", "threads", "internal/feed", "internal/feedback", "graph", "graph/draw", "graph/untyped", "internal/stored", "state", "llm", "meaning", "internal/lru", "internal/skills/model", "search", "internal/text", "internal/rank", "internal/skills/cite", "ingest", "internal/chunk", "internal/document", "internal/folder", "internal/load", "internal/ocr", "internal/cache", "internal/querylog", "internal/seal", "internal/index", "checkpoint", "internal/skills/offline", "nodes", "internal/prompts", "prompts", "internal/transcript", "internal/sqlite"}, theirs: []string{
		"github.com/google/uuid",         // ids of threads and runs
		"golang.org/x/sync/singleflight", // one call for a question that several searches ask
		"golang.org/x/sync/semaphore",    // whose vectors are made, in order, until a context ends
	}},
	"cmd/ragflow": {ours: []string{"*"}, theirs: []string{
		"github.com/spf13/cobra", // commands, help and completion
		"github.com/spf13/pflag", // cobra's flags
		"golang.org/x/term",      // is this a terminal, and how wide
	}},
	"internal/telemetry": {ours: []string{".", "graph", "llm", "meaning", "nodes", "state"}, theirs: []string{
		"go.opentelemetry.io/otel",            // spans and metrics, and OTLP over HTTP, by the project that defines them
		"github.com/prometheus/client_golang", // the text that Prometheus reads, and the metrics of a Go process
		"github.com/prometheus/client_model",  // in a test: metrics as Prometheus's
		"github.com/prometheus/common",        // parser reads them
		"go.opentelemetry.io/proto/otlp",      // in a test: what a receiver gets
		"google.golang.org/protobuf",          // in its encoding
	}},
	"internal/sqlite": {theirs: []string{
		"github.com/mattn/go-sqlite3", // SQLite with cgo
		"modernc.org/sqlite",          // SQLite without
	}},
	"internal/settings": {ours: []string{"*"}, theirs: []string{ // it chooses backends and providers
		"github.com/jackc/pgx/v5",  // PostgreSQL as a database of package database/sql
		"github.com/joho/godotenv", // .env files
		"github.com/adrg/xdg",      // where configuration and data live
		"go.yaml.in/yaml/v4",       // the configuration file
	}},
	"cmd/ragflow/internal/screen": {ours: []string{"internal/transcript"}},
	"cmd/ragflow/internal/chat": {ours: []string{".", "cmd/ragflow/internal/screen", "ingest", "threads", "state", "internal/transcript", "graph", "nodes", "internal/termmd"}, theirs: []string{
		"github.com/reeflective/readline", // line editing, history and paste
		"github.com/charmbracelet/x/ansi", // columns of what people read
		"golang.org/x/term",               // size of the terminal, and how it was
		"golang.org/x/sys",                // keys that wait unseen while an answer is written
	}},
	"internal/termmd": {ours: []string{"internal/sanitize", "internal/text"}, theirs: []string{
		"github.com/yuin/goldmark",        // Markdown
		"github.com/charmbracelet/x/ansi", // wrapping by columns
	}},
	"internal/newfile": {},
	"internal/tokens":  {},
	"server/internal/door": {ours: []string{".", "graph", "ingest", "internal/lru", "internal/tokens", "state"}, theirs: []string{
		"golang.org/x/time/rate", // requests a second
	}},
	"server/internal/mcp": {ours: []string{".", "ingest", "internal/tokens", "search", "server/internal/door", "state", "threads"}, theirs: []string{
		"github.com/google/jsonschema-go",        // schemas that every model's vendor takes
		"github.com/modelcontextprotocol/go-sdk", // the protocol, by the official SDK
	}},
	"server/internal/source": {ours: []string{".", "ingest", "internal/document", "internal/folder", "internal/lru", "internal/markup", "internal/pdf", "internal/sanitize", "internal/text", "internal/tokens", "server/internal/door"}, theirs: []string{
		"github.com/yuin/goldmark", // Markdown
	}},
	"server/internal/agui": {ours: []string{".", "graph", "internal/tokens", "server/internal/door", "state", "threads"}},
	"server/internal/api": {ours: []string{".", "graph", "ingest", "internal/tokens", "search", "server/internal/door", "state", "threads"}, theirs: []string{
		"github.com/google/jsonschema-go", // the schemas of Go types
	}},
	"server/internal/web": {ours: []string{".", "agent", "eval", "graph", "ingest", "internal/lru", "internal/newfile", "internal/sanitize", "internal/text", "internal/tokens", "llm", "nodes", "server/internal/door", "server/internal/source", "state", "threads"}, theirs: []string{
		"github.com/yuin/goldmark", // Markdown
		"golang.org/x/text",        // the language that a browser asks for
	}},
	"server/internal/openai": {ours: []string{
		".", "graph", "ingest", "internal/llmtest", "internal/text", "internal/tokens", "internal/transcript", "llm", "llm/openai", "meaning", "nodes", "server/internal/door", "state", "threads",
	}, theirs: []string{
		"github.com/google/uuid", // ids of conversations
	}},
	"server/internal/langgraph": {ours: []string{".", "graph", "graph/schema", "graph/untyped", "internal/address", "internal/feed", "internal/lru", "internal/tokens", "longterm", "nodes", "server/internal/door", "state", "threads"}, theirs: []string{
		"github.com/google/uuid", // ids of threads, runs, tasks and assistants
	}},
	"server": {ours: []string{".", "agent", "graph", "graph/untyped", "ingest", "internal/tokens", "longterm", "server/internal/agui", "server/internal/api", "server/internal/door", "server/internal/langgraph", "server/internal/mcp", "server/internal/openai", "server/internal/source", "server/internal/web"}, theirs: []string{
		"golang.org/x/sys/unix", // ends connections whose client acknowledges nothing
	}},
	"internal/parallel": {},
	"tests/hostile": {ours: []string{".", "internal/sqlite", "llm", "internal/prompts", "internal/skills/model"}, theirs: []string{
		"modernc.org/sqlite", // prepares databases beside the program
	}},
	"tests/doors": {ours: []string{".", "eval", "graph/untyped", "ingest", "internal/golden", "internal/llmtest", "llm", "longterm", "search", "server", "tests/browser"}},
	"tests/browser": {theirs: []string{
		"github.com/chromedp/chromedp", // drives the browser by its own protocol, without another program
	}},
	"tests/page": {ours: []string{".", "agent", "internal/llmtest", "llm", "llm/openai", "server", "tests/browser"}, theirs: []string{
		"github.com/chromedp/cdproto", // the theme that a page is looked at in
	}},
	"tests/kills": {ours: []string{"agent", "checkpoint/postgres", "llm", "llm/openai", "state"}},
	"internal/golden": {theirs: []string{
		"github.com/google/go-cmp", // readable differences
	}},
}

// testOnly is what tests of every room may import besides.
var testOnly = []string{
	"github.com/google/go-cmp",        // readable differences
	"github.com/rogpeppe/go-internal", // txtar and testscript
	"golang.org/x/tools/txtar",        // documents and expectations in one file
	"github.com/creack/pty",           // a terminal for the program under test
	"github.com/hinshun/vt10x",        // the screen of that terminal
	"github.com/jackc/pgx/v5",         // SQL beside the store on a server
	"github.com/yuin/goldmark",        // renders what we write as its readers see it
	"github.com/chromedp/chromedp",    // the pages in the browser of tests/browser

	"github.com/modelcontextprotocol/go-sdk", // a server for the program under test
	module + "/internal/golden",
	module + "/internal/termmd", // what a terminal gets
	module + "/internal/sanitize",
	module + "/internal/transcript",
	module + "/eval",                                                                              // questions for integration tests,
	module + "/llm", module + "/llm/openai", module + "/llm/anthropic", module + "/llm/providers", // and real models for them
	module + "/internal/folder", module + "/internal/load", module + "/internal/chunk", // documents for tests of chunkers, chunks for tests of loaders
	module + "/internal/pdf/pdftest", // PDFs for tests of loaders
	module + "/graph/graphtest", module + "/graph", module + "/longterm/longtermtest",
	module + "/graph/memstore",
	module + "/internal/stored",
	module + "/internal/index",
	module + "/internal/sqlite", // opened for reading only
	module + "/search/searchtest",
	module + "/internal/remote", module + "/search/weaviate", module + "/search/pgvector", // indexes on servers, whose quality is measured
	module + "/graph/draw",
	module + "/threads",    // views of what stores hold,
	module + "/checkpoint", // and the store beside which others are measured
	module + "/internal/llmtest",
	module + "/internal/beir",           // test collections
	module + "/internal/skills/offline", // the order of a list by chances
}

// TestArchitecture reads the imports of every file itself, so that a cached
// result never hides a new one.
func TestArchitecture(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || p != "." && strings.HasPrefix(d.Name(), ".") || p == "tools" || p == "bench" || p == "field-data") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") {
			return nil
		}
		name := path.Dir(filepath.ToSlash(p))
		r, ok := rooms[name]
		if !ok {
			t.Errorf("%s: room %q is not on the map in arch_test.go", p, name)
			return nil
		}
		seen[name] = true
		file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if !r.allows(name, imported, strings.HasSuffix(p, "_test.go")) {
				t.Errorf("%s: %q must not import %q", p, name, imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range rooms {
		if !seen[name] {
			t.Errorf("room %q is on the map but has no Go file", name)
		}
		if !strings.HasPrefix(name, "examples/") && !strings.HasPrefix(name, "scripts/") && !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("ARCHITECTURE.md has no row for %q", name)
		}
	}
}

func (r room) allows(name, imported string, test bool) bool {
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") {
		return true // standard library
	}
	under := func(list []string) bool {
		return slices.ContainsFunc(list, func(p string) bool {
			return imported == p || strings.HasPrefix(imported, p+"/")
		})
	}
	if test && (under(testOnly) || imported == path.Join(module, name)) {
		return true
	}
	if imported == module || strings.HasPrefix(imported, module+"/") {
		ours := strings.TrimPrefix(strings.TrimPrefix(imported, module), "/")
		if ours == "" {
			ours = "."
		}
		return slices.Contains(r.ours, ours) || slices.Contains(r.ours, "*")
	}
	return under(r.theirs)
}

func TestRoomAllows(t *testing.T) {
	for _, tt := range []struct {
		room, imported string
		test, want     bool
	}{
		{"graph", "context", false, true},
		{"graph", module + "/state", false, false},
		{"nodes", module + "/state", false, true},
		{"nodes", module + "/index", false, false},
		{"nodes", "github.com/google/go-cmp/cmp", false, false},
		{"nodes", "github.com/google/go-cmp/cmp", true, true},
		{"cmd/ragflow", module, false, true},
		{"state", "github.com/google/uuid", false, false},
	} {
		if got := rooms[tt.room].allows(tt.room, tt.imported, tt.test); got != tt.want {
			t.Errorf("rooms[%q].allows(%q, test=%v) = %v, want %v", tt.room, tt.imported, tt.test, got, tt.want)
		}
	}
}

// TestReadmeShowsTheGraph compares the diagram of the README with the graph.
func TestReadmeShowsTheGraph(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := ragflow.DrawGraph()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```mermaid\n")
	got, _, _ := strings.Cut(rest, "```")
	if strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("the diagram in README.md is\n%s\nthe graph is\n%s", got, want)
	}
}
