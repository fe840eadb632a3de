package ragflow_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "example.com/ragflow"

// room says what a package may import beside the standard library. Rooms are
// named by their folder; "." is the root. Tests may import what testOnly adds.
type room struct {
	ours   []string // rooms of this module; a trailing /* stands for all below
	theirs []string // third-party modules, each with its reason beside it
}

var rooms = map[string]room{
	"graph": {theirs: []string{
		"github.com/looplab/fsm", // the lifecycle of a run: legal moves and their diagram
		"github.com/google/uuid", // ids of runs
	}},
	"graph/draw": {ours: []string{"graph"}, theirs: []string{
		"golang.org/x/text/width", // columns of wide characters in ASCII drawings
	}},
	"graph/memstore":  {ours: []string{"graph"}},
	"graph/graphtest": {ours: []string{"graph"}},
	"state":           {},
	"search/text": {theirs: []string{
		"github.com/clipperhouse/uax29/v2",     // Unicode word boundaries (UAX #29)
		"github.com/blevesearch/snowballstem",  // stemmers of most languages
		"github.com/kljensen/snowball",         // that of English, and its stop words
		"github.com/abadojack/whatlanggo",      // language of a text
		"github.com/pkoukk/tiktoken-go",        // o200k token counts
		"github.com/pkoukk/tiktoken-go-loader", // the o200k vocabulary as an embedded file
		"golang.org/x/text/unicode/norm",       // NFC
	}},
	"search/rank": {ours: []string{"state", "search/text"}},
	"skills/cite": {ours: []string{"prompts", "state", "search/text"}},
	"ingest/load": {ours: []string{"search/text", "state"}, theirs: []string{
		"github.com/yuin/goldmark",        // Markdown
		"go.yaml.in/yaml/v4",              // front matter
		"github.com/google/uuid",          // chunk ids (version 5)
		"golang.org/x/text",               // encodings of text files
		"golang.org/x/net/html",           // HTML pages and the encodings they declare
		"github.com/wlynxg/chardet",       // encodings of Japanese, Korean and Chinese
		"github.com/klippa-app/go-pdfium", // text and places of PDFs, by the reader of the Chrome browser
		"github.com/tetratelabs/wazero",   // the sandbox that it runs in, without cgo
	}},
	"search/index": {ours: []string{"search/text", "state", "search/rank", "internal/memo", "internal/parallel", "internal/sqlite"}, theirs: []string{
		"golang.org/x/sys/cpu", // whether the processor has the instructions of the dot product
	}},
	"checkpoint":  {ours: []string{"graph", "internal/sqlite"}},
	"llm":         {},
	"llm/llmtest": {},
	"llm/rerank":  {ours: []string{"llm"}},
	"prompts":     {},
	"llm/openai": {ours: []string{"llm"}, theirs: []string{
		"github.com/openai/openai-go/v3", // OpenAI's API, which most providers and local servers speak
	}},
	"skills/offline": {ours: []string{"search/text", "state", "prompts", "search/rank", "skills/cite", "internal/memo", "internal/parallel"}, theirs: []string{
		"go.yaml.in/yaml/v4", // dictionaries that people write
	}},
	"nodes": {ours: []string{"graph", "state", "prompts", "search/text", "search/rank", "skills/cite", "internal/memo"}, theirs: []string{
		"github.com/google/uuid", // message ids
	}},
	"transcript":   {ours: []string{"graph", "state", "search/text", "prompts"}},
	"eval":         {ours: []string{".", "state", "search/text", "search/rank", "skills/cite", "ingest/load", "search/index", "llm", "nodes", "skills/offline", "prompts"}},
	"skills/model": {ours: []string{"llm", "prompts", "search/text", "state", "search/rank", "skills/cite"}},
	"threads": {ours: []string{"checkpoint", "graph", "search/text", "state", "transcript"}, theirs: []string{
		"github.com/google/uuid", // names of new threads
	}},
	".": {ours: []string{"threads", "graph", "graph/draw", "state", "llm", "skills/model", "search/text", "search/rank", "skills/cite", "ingest/load", "search/index", "checkpoint", "skills/offline", "nodes", "prompts", "transcript", "internal/memo", "internal/parallel", "internal/sqlite"}, theirs: []string{
		"github.com/google/uuid",       // ids of threads and runs
		"github.com/fsnotify/fsnotify", // changes in folders that are watched
		"go.yaml.in/yaml/v4",           // front matter of promoted answers
	}},
	"cmd/ragflow": {ours: []string{".", "checkpoint", "threads", "eval", "search/index", "llm", "llm/openai", "llm/rerank", "search/rank", "state", "transcript", "graph", "cmd/ragflow/chat", "internal/lineedit"}, theirs: []string{
		"github.com/spf13/cobra",            // commands, help and completion
		"github.com/spf13/pflag",            // cobra's flags
		"github.com/schollz/progressbar/v3", // progress with rate and time left
		"github.com/joho/godotenv",          // .env files
		"github.com/adrg/xdg",               // where configuration and data live
		"go.yaml.in/yaml/v4",                // the configuration file
		"golang.org/x/term",                 // is this a terminal, and how wide
		"github.com/rivo/uniseg",            // columns of names and titles
		"golang.org/x/sys",                  // free space on a disk
	}},
	"internal/sqlite": {theirs: []string{
		"github.com/mattn/go-sqlite3", // SQLite with cgo
		"modernc.org/sqlite",          // SQLite without
	}},
	"cmd/ragflow/chat": {ours: []string{".", "threads", "state", "transcript", "graph", "nodes", "internal/lineedit", "internal/termmd"}, theirs: []string{
		"github.com/rivo/uniseg", // columns of what people type and read
	}},
	"internal/lineedit": {theirs: []string{
		"github.com/rivo/uniseg", // grapheme clusters and their columns
		"golang.org/x/sys",       // raw input that leaves output as it is
		"golang.org/x/term",      // size of the terminal, and how it was
	}},
	"internal/termmd": {theirs: []string{
		"github.com/yuin/goldmark", // Markdown
		"github.com/rivo/uniseg",   // grapheme clusters and their columns
	}},
	"internal/memo":     {},
	"internal/parallel": {},
	"internal/screen": {theirs: []string{
		"github.com/rivo/uniseg", // grapheme clusters and their columns
	}},
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
	"github.com/yuin/goldmark",        // renders what we write as its readers see it
	module + "/internal/golden",
	module + "/internal/termmd", // what a terminal gets
	module + "/transcript",
	module + "/eval",                        // questions for integration tests,
	module + "/llm", module + "/llm/openai", // and real models for them
	module + "/internal/screen",
	module + "/graph/graphtest",
	module + "/graph/memstore",
	module + "/graph/draw",
	module + "/llm/llmtest",
}

// TestArchitecture reads the imports of every file itself, so that a cached
// result never hides a new one.
func TestArchitecture(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || p != "." && strings.HasPrefix(d.Name(), ".") || p == "tools" || p == "bench") {
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
	for name := range rooms {
		if !seen[name] {
			t.Errorf("room %q is on the map but has no Go file", name)
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
		return slices.Contains(r.ours, ours)
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
