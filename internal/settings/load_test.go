package settings_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/settings"
	"example.com/ragflow/llm/providers"
)

// person is somebody in a project folder, with a home of their own.
type person struct {
	t       *testing.T
	project string
	in      settings.Input
}

func newPerson(t *testing.T) *person {
	t.Helper()
	home := t.TempDir()
	p := &person{t, filepath.Join(home, "project"), settings.Input{}}
	p.in = settings.Input{
		Dir: p.project, Flags: settings.Flags(),
		Env: map[string]string{"XDG_CONFIG_HOME": filepath.Join(home, "config"), "XDG_DATA_HOME": filepath.Join(home, "data")},
	}
	p.write("docs/a.md", "text")
	return p
}

// write writes a file of the project, or of the home with "../".
func (p *person) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.project, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *person) load() *settings.Settings {
	p.t.Helper()
	s, _, err := settings.Load(p.in)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

func (p *person) trust() {
	p.t.Helper()
	if _, err := p.load().Trust(); err != nil {
		p.t.Fatal(err)
	}
}

// value is a setting as "ragflow config" shows it, with the source as a path in the home.
func (p *person) value(s *settings.Settings, name string) string {
	i := slices.IndexFunc(s.Rows, func(r settings.Row) bool { return r.Name == name })
	home := filepath.Dir(p.project) + string(filepath.Separator)
	return filepath.ToSlash(strings.ReplaceAll(strings.Join(s.Rows[i].Values, " ")+" from "+s.Rows[i].Source, home, ""))
}

const projectFile = ".ragflow/config.yaml"

// TestPrecedence adds one source after the other: each wins over those before it (V01).
func TestPrecedence(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	for _, step := range []struct {
		name string
		add  func()
		want string
	}{
		{"nothing", func() {}, "auto from default"},
		{"the person's file", func() { p.write("../config/ragflow/config.yaml", "# mine\nreranking: off\n") }, "off from config/ragflow/config.yaml:2"},
		{"the project's file", func() { p.write(projectFile, "reranking: mmr\n") }, "mmr from project/.ragflow/config.yaml:1"},
		{".env", func() { p.write(".env", "A=1\nexport RERANKING=off\n") }, "off from project/.env:2"},
		{"environment", func() { p.in.Env["RERANKING"] = "mmr" }, "mmr from environment"},
		{"environment with our prefix", func() { p.in.Env["RAGFLOW_RERANKING"] = "off" }, "off from environment"},
		{"flag", func() { p.in.Flags["RERANKING"].Values = []string{"llm"} }, "llm from flag --rerank"},
	} {
		step.add()
		if got := p.value(p.load(), "RERANKING"); got != step.want {
			t.Errorf("%s: %s, want %s", step.name, got, step.want)
		}
	}
}

// TestPaths resolves relative paths from the place they were written in.
func TestPaths(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.write(projectFile, "docs: [docs, ./more]\n")
	p.write("below/x", "")
	p.in.Dir = filepath.Join(p.project, "below")
	docs := func(names ...string) (out []string) {
		for _, n := range names {
			out = append(out, filepath.Join(p.project, n))
		}
		return out
	}
	s := p.load()
	if diff := cmp.Diff(docs("docs", "more"), s.Config.Docs); diff != "" || s.Project != p.project || s.Config.DataDir != filepath.Join(p.project, ".ragflow") {
		t.Errorf("project %s, data folder %s, documents %s", s.Project, s.Config.DataDir, diff)
	}
	p.in.Flags["RAGFLOW_DOCS"].Values = []string{"../docs"}
	if diff := cmp.Diff(docs("docs"), p.load().Config.Docs); diff != "" {
		t.Error(diff)
	}
}

// TestTrust lets an untrusted file set what is safe, and the rest once a person trusts its content.
func TestTrust(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file, text, setting string
		offline                   bool
		refused, untrusted, kept  string // the error, the value before, the value after
	}{
		{"safe", projectFile, "chunk_size: 256\n", "CHUNK_SIZE", false, "", "256 from project/.ragflow/config.yaml:1", "256 from project/.ragflow/config.yaml:1"},
		{"documents inside", projectFile, "docs: [docs]\n", "RAGFLOW_DOCS", false, "", "project/docs from project/.ragflow/config.yaml:1", "project/docs from project/.ragflow/config.yaml:1"},
		{
			"documents outside", projectFile, "docs: [../secret]\n", "RAGFLOW_DOCS", false,
			"config.yaml:1 sets docs, and you have not trusted this file", " from default (project/.ragflow/config.yaml:1 is not trusted)", "secret from project/.ragflow/config.yaml:1",
		},
		{
			"data folder", projectFile, "data_dir: ../elsewhere\n", "RAGFLOW_DATA_DIR", false,
			"config.yaml:1 sets data_dir", "project/.ragflow from default (project/.ragflow/config.yaml:1 is not trusted)", "elsewhere from project/.ragflow/config.yaml:1",
		},
		{
			"model", ".env", "SMART_LLM_MODEL=thief\n", "SMART_LLM_MODEL", false,
			".env:1 sets SMART_LLM_MODEL", " from default (project/.env:1 is not trusted)", "thief from project/.env:1",
		},
		{
			"content of traces", projectFile, "trace_content: true\n", "RAGFLOW_TRACE_CONTENT", false,
			"config.yaml:1 sets trace_content", "false from default (project/.ragflow/config.yaml:1 is not trusted)", "true from project/.ragflow/config.yaml:1",
		},
		{
			"model that is not used", ".env", "SMART_LLM_MODEL=thief\n", "SMART_LLM_MODEL", true,
			"", " from default (project/.env:1 is not trusted)", "thief from project/.env:1",
		},
		{
			"address without a model", ".env", "OPENAI_BASE_URL=https://evil.example/v1\n", "OPENAI_BASE_URL", false,
			"", " from default (project/.env:1 is not trusted)", "https://evil.example/v1 from project/.env:1",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t)
			p.in.Offline = tt.offline
			p.write(tt.file, tt.text)
			check := func(state, wantError, want string) {
				t.Helper()
				s := p.load()
				if err := s.CheckTrust(); (err == nil) != (wantError == "") || err != nil && !strings.Contains(filepath.ToSlash(err.Error()), wantError) {
					t.Errorf("%s: error %v, want %q", state, err, wantError)
				}
				if got := p.value(s, tt.setting); got != want {
					t.Errorf("%s: %q, want %q", state, got, want)
				}
			}
			check("untrusted", tt.refused, tt.untrusted)
			p.trust()
			check("trusted", "", tt.kept)
			p.write(tt.file, "# changed\n"+tt.text)
			check("changed", strings.ReplaceAll(tt.refused, ":1", ":2"), strings.ReplaceAll(tt.untrusted, ":1", ":2"))
		})
	}
}

// TestKeyStaysHome sends no key of the environment to an address of a file, trusted or not.
func TestKeyStaysHome(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.in.Env["OPENAI_API_KEY"] = "sk-home"
	p.write(".env", "OPENAI_BASE_URL=https://other.example/v1\nSMART_LLM_MODEL=m\n")
	p.trust()
	s, notices, err := settings.Load(p.in)
	if err != nil || s.Models.Variable("OPENAI_API_KEY") != "" || len(notices) != 1 || !strings.Contains(string(notices[0]), "OPENAI_API_KEY of the environment is not sent") {
		t.Errorf("key %q, notices %q, %v", s.Models.Variable("OPENAI_API_KEY"), notices, err)
	}
	p.write(".env", "OPENAI_BASE_URL=https://other.example/v1\nOPENAI_API_KEY=sk-other\n")
	p.trust()
	if s = p.load(); s.Models.Variable("OPENAI_API_KEY") != "sk-other" || strings.Contains(p.value(s, "OPENAI_API_KEY"), "sk-") {
		t.Errorf("key %q, shown as %q", s.Models.Variable("OPENAI_API_KEY"), p.value(s, "OPENAI_API_KEY"))
	}
	p.in.Env["OPENAI_BASE_URL"] = "https://home.example/v1"
	if s = p.load(); s.Models.Variable("OPENAI_API_KEY") != "sk-home" {
		t.Error("the key is not sent to an address of the environment")
	}
	p.in.Env["LANGSMITH_API_KEY"] = "ls-home"
	if s = p.load(); s.Models.Telemetry.LangSmith.Key != "ls-home" {
		t.Error("the key of LangSmith is lost")
	}
	p.write(".env", "LANGSMITH_ENDPOINT=https://other.example\n")
	p.trust()
	if s = p.load(); s.Models.Telemetry.LangSmith.Key != "" || s.Models.Telemetry.LangSmith.Endpoint != "https://other.example" {
		t.Errorf("the key of LangSmith is sent to %s", s.Models.Telemetry.LangSmith.Endpoint)
	}
}

// TestForeignData opens no database that came with a project, also if the project names another
// data folder without being trusted.
func TestForeignData(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.write(".ragflow/threads.db", "from somebody else")
	if s := p.load(); s.Foreign != s.Config.DataDir || s.CheckTrust() == nil {
		t.Errorf("foreign %q, %v", s.Foreign, s.CheckTrust())
	}
	p.write(projectFile, "data_dir: ../elsewhere\n")
	if s := p.load(); s.Foreign != s.Config.DataDir {
		t.Errorf("with another folder refused: foreign %q, data folder %s", s.Foreign, s.Config.DataDir)
	}
	p.write(projectFile, "")
	p.trust()
	if s := p.load(); s.Foreign != "" || s.CheckTrust() != nil {
		t.Errorf("after trust: foreign %q, %v", s.Foreign, s.CheckTrust())
	}
	if err := os.Rename(filepath.Join(p.project, ".ragflow"), filepath.Join(p.project, "moved")); err != nil {
		t.Fatal(err)
	}
	q := newPerson(t)
	q.in.Env = p.in.Env
	if err := os.Rename(filepath.Join(p.project, "moved"), filepath.Join(q.project, ".ragflow")); err != nil {
		t.Fatal(err)
	}
	if s := q.load(); s.Foreign == "" {
		t.Error("a folder that was moved here passes for one made here")
	}
}

// TestMakeData makes a data folder that may be used again.
func TestMakeData(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.write(projectFile, "data_dir: data\n")
	p.trust()
	if notice, err := p.load().MakeData(); notice != "" || err != nil {
		t.Fatal(notice, err)
	}
	p.write("data/threads.db", "mine")
	if s := p.load(); s.Foreign != "" {
		t.Errorf("%s is foreign", s.Foreign)
	}
	if err := os.Symlink(filepath.Join(p.project, "docs"), filepath.Join(p.project, "data", "index.db")); err != nil {
		t.Skip("no symbolic links here")
	}
	if _, _, err := settings.Load(p.in); err == nil || !strings.Contains(err.Error(), "is a link or a device") {
		t.Errorf("a link in the place of the index: %v", err)
	}
}

// wide is a text as Windows calls Unicode: UTF-16 with a mark.
func wide(text string) string {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return string(out)
}

// TestBadFiles names the file, the line and what to do, and never shows what a .env holds.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, file, text, want, hint string }{
		{"no assignment", ".env", "A=1\npassword hunter2\nB=2", ".env:2: not in the form NAME=value", "write NAME=value"},
		{"last line", ".env", "A=1\n\n# x\n!!\n", ".env:4: ", "write NAME=value"},
		{"open quote", ".env", "A=\"hunter2\ntwo\nB=2\n", ".env:1: ", "write NAME=value"},
		{"after a value of two lines", ".env", "A=\"one\ntwo\"\n!!\n", ".env:3: ", "write NAME=value"},
		{"many lines", ".env", strings.Repeat("A=1\n", 20_000) + "!!\n" + strings.Repeat("A=1\n", 20_000), ".env:20001: ", "write NAME=value"},
		{"UTF-16", ".env", wide("A=hunter2\n"), ".env is not UTF-8 text", "save it as UTF-8"},
		{"huge", ".env", strings.Repeat("A=hunter2\n", 30_000), ".env has 300000 bytes, more than the 262144 that are read", ""},
		{"broken YAML", projectFile, "docs: [docs\nx: : y", "config.yaml is not YAML: ", "a setting is a line such as: "},
		{"list", projectFile, "- docs\n", "config.yaml:1: must hold lines of the form key: value", "a setting is a line such as: "},
		{"Latin-1", projectFile, "docs: [caf\xe9]\n", "config.yaml is not UTF-8 text", "save it as UTF-8"},
		{"misspelt key", projectFile, "docs: [docs]\nrelevance_treshold: 0.5", `config.yaml:2: unknown key "relevance_treshold"`, "there are: relevance_threshold"},
		{"unknown key", projectFile, "zzz: 1", `config.yaml:1: unknown key "zzz"`, "ragflow config --all"},
		{"secret", projectFile, "openai_api_key: sk-hunter2", "config.yaml:1: keys do not belong in the configuration file", "environment or .env"},
		{"twice", projectFile, "chunk_size: 20\nchunk_size: 30", "config.yaml:2: chunk_size is set twice", "take one of the lines out"},
		{"list for a number", projectFile, "chunk_size: [20]", "config.yaml:1: chunk_size must be a whole number", "correct the line"},
		{"list in a list", projectFile, "docs:\n- [a]", "config.yaml:2: docs must be a list of files and folders", "correct the line"},
		{"bad value", projectFile, "relevance_threshold: high", `RELEVANCE_THRESHOLD is "high" but must be a number above 0 and up to 1 (`, "the default is 0.5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t)
			p.write(tt.file, tt.text)
			_, _, err := settings.Load(p.in)
			bad, ok := errors.AsType[*settings.Error](err)
			if !ok || !strings.Contains(err.Error(), tt.want) || !strings.Contains(bad.Hint, tt.hint) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error %v, hint in it: %+v; want %q and %q", err, bad, tt.want, tt.hint)
			}
		})
	}
}

// TestRefusedAddress does not show a password.
func TestRefusedAddress(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.in.Env["RAGFLOW_STORE"] = "mysql://user:hunter2@host"
	if _, _, err := settings.Load(p.in); err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "RAGFLOW_STORE must be a URL") {
		t.Error(err)
	}
	p.in.Env["RAGFLOW_STORE"] = "postgres://user:hunter2@host/db"
	if got := p.value(p.load(), "RAGFLOW_STORE"); got != "postgres://user:xxxxx@host/db from environment" {
		t.Error(got)
	}
}

// TestUnreadVariables warns of variables of other systems that nothing reads.
func TestUnreadVariables(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.in.Env["MMR_LAMBDA"], p.in.Env["RAG_MAX_RESULTS"], p.in.Env["RERANKER_MODEL"] = "0.4", "5", "m"
	p.write(".env", "QDRANT_HOST=localhost\n")
	_, notices, err := settings.Load(p.in)
	if err != nil || len(notices) != 1 || !strings.HasPrefix(string(notices[0]), "MMR_LAMBDA, QDRANT_HOST: no effect; ") {
		t.Errorf("notices %q, %v", notices, err)
	}
}

// TestInForce shows the defaults that a preset changes.
func TestInForce(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.in.Env["RETRIEVAL_PRESET"], p.in.Env["CHUNK_OVERLAP"] = "code", "0"
	s := p.load()
	s.ShowInForce()
	for name, want := range map[string]string{
		"RAG_MAX_RESULTS": "15 from preset code", "CHUNK_SIZE": "1024 from preset code", "CHUNK_OVERLAP": "0 from environment", "RELEVANCE_THRESHOLD": "0.5 from default",
	} {
		if got := p.value(s, name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestCollection uses what a collection noted when it was made, whatever is configured since (C17).
func TestCollection(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.in.Collection, p.in.NewCollection = "books", true
	if _, _, err := settings.Load(p.in); !errors.Is(err, ingest.ErrNoCollection) {
		t.Errorf("without documents: %v", err)
	}
	p.in.Flags["RAGFLOW_DOCS"].Values = []string{"docs"}
	p.in.Env["EMBEDDING_MODEL"] = "first"
	if err := p.load().KeepCollection(); err != nil {
		t.Fatal(err)
	}
	p.in.NewCollection, p.in.Flags, p.in.Env["EMBEDDING_MODEL"] = false, settings.Flags(), "second"
	s := p.load()
	if got := p.value(s, "EMBEDDING_MODEL") + "; " + p.value(s, "RAGFLOW_DOCS"); got != "first from collection books; project/docs from collection books" {
		t.Error(got)
	}
	p.in.Flags["RAGFLOW_DOCS"].Values = []string{"more"}
	p.in.Reembed = true
	s = p.load()
	if got := p.value(s, "EMBEDDING_MODEL") + "; " + p.value(s, "RAGFLOW_DOCS"); got != "second from environment; project/docs project/more from collection books" {
		t.Error(got)
	}
	p.in.Collection = "../x"
	if _, _, err := settings.Load(p.in); !errors.Is(err, ingest.ErrCollectionName) {
		t.Errorf("a name that leads out: %v", err)
	}
}

// TestInit makes a project, and later only gives it documents.
func TestInit(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	path, made, err := settings.Init(p.in, nil)
	if err != nil || !made || path != filepath.Join(p.project, filepath.FromSlash(projectFile)) {
		t.Fatalf("%s, %v, %v", path, made, err)
	}
	if _, _, err = settings.Init(p.in, nil); err == nil || !strings.Contains(err.Error(), "is already there") {
		t.Errorf("made twice: %v", err)
	}
	if _, made, err = settings.Init(p.in, []string{"./docs", "../readme.md"}); err != nil || made {
		t.Errorf("documents added: %v, %v", made, err)
	}
	s := p.load()
	if got := strings.Join(s.Config.Docs, " "); got != filepath.Join(p.project, "docs")+" "+filepath.Join(filepath.Dir(p.project), "readme.md") || s.CheckTrust() != nil {
		t.Errorf("documents %s, %v", got, s.CheckTrust())
	}
	bad := new(settings.Error)
	if _, _, err = settings.Init(p.in, []string{"docs"}); !errors.As(err, &bad) || !bad.Conflict {
		t.Errorf("documents named twice: %v", err)
	}
}

// TestUseModel writes one line and keeps the others, and the trust.
func TestUseModel(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	path, err := p.load().UseModel("ollama:small")
	if err != nil || path != filepath.Join(p.in.Env["XDG_CONFIG_HOME"], "ragflow", "config.yaml") {
		t.Fatal(path, err)
	}
	p.write(projectFile, "# mine\nsmart_llm_model: old\nchunk_size: 256")
	if _, err := p.load().UseModel("ollama:small"); err == nil || !strings.Contains(err.Error(), "is not trusted") {
		t.Errorf("without trust: %v", err)
	}
	p.trust()
	if path, err = p.load().UseModel("ollama:small"); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "# mine\nsmart_llm_model: ollama:small\nchunk_size: 256" {
		t.Errorf("%q, %v", text, err)
	}
	if s := p.load(); s.Models.Smart != "ollama:small" || s.CheckTrust() != nil {
		t.Errorf("model %q, %v", s.Models.Smart, s.CheckTrust())
	}
	if _, err := p.load().UseModel("two words"); err == nil {
		t.Error("a name with a space is written")
	}
	if _, err := p.load().UseModel(""); err != nil || p.load().Models.Smart != "" {
		t.Errorf("no model: %v", err)
	}
}

// TestModels lists what is asked where, and probes nothing by itself.
func TestModels(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	if got := p.load().Models.Describe(); !slices.Equal(got, []string{settings.OfflineModel}) {
		t.Errorf("without a model: %q", got)
	}
	maps.Copy(p.in.Env, map[string]string{
		"SMART_LLM_MODEL": "groq:large", "GROQ_API_KEY": "k", "EMBEDDING_MODEL": "e", "EMBEDDING_BASE_URL": "http://plain.example:80/v1", "EMBEDDING_API_KEY": "k",
		"RERANK_MODEL": "r", "RERANK_BASE_URL": "http://localhost:1/v1", "LLM_PRICES": "groq:large=1/2 e=1", "LLM_REQUESTS_PER_MINUTE": "60",
	})
	s := p.load()
	var got []string
	for _, u := range s.Models.Uses() {
		host, plain := u.Remote()
		got = append(got, u.Setting+" "+host+map[bool]string{true: " plain"}[plain])
	}
	if diff := cmp.Diff([]string{"SMART_LLM_MODEL api.groq.com", "EMBEDDING_MODEL plain.example:80 plain", "RERANK_MODEL "}, got); diff != "" {
		t.Error(diff)
	}
	c := s.Config
	if err := s.Models.Configure(&c, settings.AllModels); err != nil || c.Models.Chat == nil || c.Models.Embedder == nil || c.Models.Reranker == nil {
		t.Errorf("%v, %v, %v, %v", c.Models.Chat, c.Models.Embedder, c.Models.Reranker, err)
	}
	for name, want := range map[string]string{"GROQ_API_KEY": "set GROQ_API_KEY in the environment", "RERANK_BASE_URL": "say where it is served"} {
		p.in.Env[name] = ""
		s = p.load()
		bad, ok := errors.AsType[*settings.Error](s.Models.Configure(&s.Config, settings.AllModels))
		if !ok || !strings.Contains(bad.Hint, want) {
			t.Errorf("without %s: %+v", name, bad)
		}
		p.in.Env[name] = map[string]string{"GROQ_API_KEY": "k", "RERANK_BASE_URL": "http://localhost:1/v1"}[name]
	}
}

// TestSettingsAreDocumented finds every setting in the guide, but for addresses and keys of
// providers, which the guide has a rule for, and no default in the table of docs/configuration.md that is not the one of the program.
func TestSettingsAreDocumented(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	guide, table := "", ""
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		guide += string(text)
		if filepath.Base(page) == "configuration.md" {
			table = string(text)
		}
	}
	for _, r := range newPerson(t).load().Rows {
		ofProvider := slices.ContainsFunc(providers.All(), func(k providers.Known) bool { return r.Name == k.URLName || r.Name == k.KeyName })
		if !ofProvider && !strings.Contains(guide, r.Name) && (r.Key == "" || !strings.Contains(guide, r.Key)) {
			t.Errorf("no page names %s", r.Name)
		}
		line := regexp.MustCompile("(?m)^\\| `" + r.Key + "` \\| `" + r.Name + "` \\| ([^|]+) \\|").FindStringSubmatch(table)
		if len(line) > 0 && len(r.Values) > 0 && r.Name != "RAGFLOW_DATA_DIR" && line[1] != r.Values[0] {
			t.Errorf("%s has the default %s on the page, and %s in the program", r.Name, line[1], r.Values[0])
		}
	}
}
