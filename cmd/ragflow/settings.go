package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/adrg/xdg"

	"example.com/ragflow"
)

// projectDir is the folder that makes the folder it lies in a project, as .git
// does for git.
const projectDir = ".ragflow"

// settingFlags are the settings that have a flag.
type settingFlags struct {
	dataDir     string
	docs        []string
	model       string
	graderModel string
	offline     bool
	collection  string
	retrieval   map[string]*string // by the name of the setting
	chunker     string
	chunkSize   string
	overlap     string
	dictionary  string
	filter      filterFlags
}

// setting is one thing that can be configured.
type setting struct {
	name    string // environment variable
	key     string // in the configuration file
	list    bool   // several values: a list in the file, separated by the list separator of the system in the environment
	path    bool   // values are paths, relative to the place they were written in
	raw     bool   // spaces around the value belong to it
	address bool   // a URL: not shown where it is refused, for it may hold a password
	zero    bool   // the zero Config holds the default already, and other defaults may follow from what is set
	secret  bool   // never shown, and not read from the configuration file; key is empty
	allowed string // what values are; for messages
	set     func(c *ragflow.Config, values []string) bool
}

// value is what a setting was given, and where.
type value struct {
	values []string
	source string // for people: flag --docs, environment, .env:3, config.yaml:7, default
	base   string // folder that relative paths start from

	untrusted string // file of a project that set it, where the person has not trusted it
}

// settings is everything that was configured.
type settings struct {
	project string // folder that holds .ragflow; empty outside of projects
	file    string // configuration file that was read; empty without
	config  ragflow.Config
	models  *models
	rows    []settingRow
	here    string            // folder that was looked from
	files   map[string][]byte // files of the project that were read
	refused []refusal         // what they set and may not, while they are not trusted
}

// settingRow is one line of "ragflow config".
type settingRow struct {
	Name   string   `json:"name"`
	Key    string   `json:"key"`
	Values []string `json:"values"`
	Source string   `json:"source"`
}

// table lists the settings in the order people see them, with their default
// values.
func (a *app) table(project string) ([]setting, map[string][]string) {
	const most = 1_000_000
	rows := []setting{
		{
			name: "RAGFLOW_DATA_DIR", key: "data_dir", path: true, allowed: "a folder",
			set: func(c *ragflow.Config, v []string) bool { c.DataDir = v[0]; return v[0] != "" },
		},
		{
			name: "RAGFLOW_DOCS", key: "docs", list: true, path: true, allowed: "files and folders",
			set: func(c *ragflow.Config, v []string) bool { c.Docs = v; return true },
		},
		{
			name: "MAX_MESSAGES_BEFORE_SUMMARY", key: "max_messages_before_summary", allowed: "a whole number of tokens from 1 to 1000000",
			set: func(c *ragflow.Config, v []string) bool { return whole(&c.SummaryTokens, v[0], most) },
		},
		{
			name: "MAX_CONTENT_TOKENS", key: "max_content_tokens", allowed: "a whole number of tokens from 1 to 1000000",
			set: func(c *ragflow.Config, v []string) bool { return whole(&c.ContentTokens, v[0], most) },
		},
		{
			name: "RELEVANCE_THRESHOLD", key: "relevance_threshold", allowed: "a number above 0 and up to 1",
			set: func(c *ragflow.Config, v []string) bool { return fraction(&c.Threshold, v[0]) },
		},
		{
			name: "STRICT_CITATIONS", key: "strict_citations", allowed: "true or false",
			set: func(c *ragflow.Config, v []string) bool { return truth(&c.Strict, v[0]) },
		},
		{
			name: "RAGFLOW_TRUST_DOCUMENTS", key: "trust_documents", allowed: "true or false",
			set: func(c *ragflow.Config, v []string) bool { return truth(&c.Context.TrustDocuments, v[0]) },
		},
		{
			name: "RETRIEVAL_MAX_WORKERS", key: "retrieval_max_workers", allowed: "a whole number from 1 to 64",
			set: func(c *ragflow.Config, v []string) bool { return whole(&c.RetrievalWorkers, v[0], 64) },
		},
	}
	rows = append(rows, setting{
		name: "RAGFLOW_DICTIONARY", key: "dictionary", path: true, allowed: "a file with lines such as \"leave: holiday, time off\"",
		set: func(c *ragflow.Config, v []string) bool { c.Dictionary = v[0]; return true },
	}, setting{ // its name in the first versions
		name: "RAGFLOW_SYNONYMS", key: "synonyms", path: true, allowed: "a file with lines such as \"leave: holiday, time off\"",
		set: func(c *ragflow.Config, v []string) bool { c.Dictionary = cmp.Or(c.Dictionary, v[0]); return true },
	}, setting{
		name: "RAGFLOW_SYSTEM_PROMPT", key: "system_prompt", path: true, allowed: "a file with a system prompt that holds {context}",
		set: func(c *ragflow.Config, v []string) bool { c.SystemPrompt = v[0]; return true },
	}, setting{
		name: "RAGFLOW_DURABILITY", key: "durability", allowed: ragflow.ProcessCrash + " or " + ragflow.PowerLoss,
		set: func(c *ragflow.Config, v []string) bool {
			c.Durability = v[0]
			return v[0] == ragflow.ProcessCrash || v[0] == ragflow.PowerLoss
		},
	})
	rows = append(rows, setting{
		name: "RAGFLOW_THREAD_KEYS", secret: true, allowed: "keys such as 2026:KEY, KEY being 32 bytes in base64; the first one is the current",
		set: func(c *ragflow.Config, v []string) (ok bool) {
			keys, err := ragflow.ParseKeyring(v[0])
			c.ThreadKeys = keys
			return err == nil
		},
	})
	defaults := map[string][]string{
		"RAGFLOW_DURABILITY":          {ragflow.ProcessCrash},
		"RAGFLOW_DATA_DIR":            {a.defaultData(project)},
		"MAX_MESSAGES_BEFORE_SUMMARY": {"1500"},
		"MAX_CONTENT_TOKENS":          {"4096"},
		"RELEVANCE_THRESHOLD":         {"0.5"},
		"RETRIEVAL_MAX_WORKERS":       {"4"},
		"STRICT_CITATIONS":            {"false"},
		"RAGFLOW_TRUST_DOCUMENTS":     {"false"},
	}
	for _, more := range []func() ([]setting, map[string][]string){denseSettings, retrievalSettings, rankingSettings, chunkSettings} {
		settings, presets := more()
		maps.Copy(defaults, presets)
		rows = append(rows, settings...)
	}
	return rows, defaults
}

func truth(to *bool, text string) bool {
	*to = text == "true"
	return text == "true" || text == "false"
}

func whole(to *int, text string, most int) bool {
	n, err := strconv.Atoi(text)
	*to = n
	return err == nil && n >= 1 && n <= most
}

func fraction(to *float64, text string) bool {
	f, err := strconv.ParseFloat(text, 64)
	*to = f
	return err == nil && !math.IsNaN(f) && f > 0 && f <= 1
}

// readSettings finds out what is configured: flags before environment before
// .env before configuration file before defaults. Values that need trust and
// lack it are left out and listed in refused.
func (a *app) readSettings() (*settings, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, failed("find the working folder", err)
	}
	return a.readSettingsIn(here)
}

func (a *app) readSettingsIn(here string) (*settings, error) {
	s := &settings{here: here, project: a.findProject(here), files: map[string][]byte{}}
	list, err := a.readTrust()
	if err != nil {
		return nil, err
	}
	dotenv, err := a.readDotenv(s, list)
	if err != nil {
		return nil, err
	}
	table, defaults := a.table(s.project)
	s.models = &models{offline: a.flags.offline}
	table = append(table, s.models.settings()...)
	file, err := a.readConfigFile(s, list, table)
	if err != nil {
		return nil, err
	}
	if file != nil {
		s.file = file.path
	}
	var named *configFile // what the collection that is asked for noted
	for _, row := range table {
		v := a.configured(s, row, named, a.fromEnvironment(row, here), dotenv.value(row), file.value(row),
			&value{values: defaults[row.name], source: "default", base: here})
		if row.path {
			for i, p := range v.values {
				v.values[i] = absolute(v.base, p)
			}
		}
		preset := row.zero && v.source == "default"
		if len(v.values) > 0 && !preset && !row.set(&s.config, v.values) {
			f := usagef("%s is %q but must be %s (%s)", row.name, strings.Join(v.values, " "), row.allowed, v.source)
			if row.address {
				f = usagef("%s must be %s (%s)", row.name, row.allowed, v.source)
			}
			f.hint = "change it there, or take it out; the default is " + orNone(strings.Join(defaults[row.name], ", "))
			return nil, f
		}
		if row.secret && len(v.values) > 0 {
			v.values = []string{"set"}
		}
		if i := slices.IndexFunc(s.refused, func(r refusal) bool { return r.row.name == row.name }); i >= 0 {
			v.source += " (" + s.refused[i].source + " is not trusted)"
		}
		s.rows = append(s.rows, settingRow{row.name, row.key, append([]string{}, v.values...), v.source})
		if row.name == "RAGFLOW_DATA_DIR" { // the first, for all others may stand there
			s.config.Collection = a.flags.collection
			if named, err = a.readCollection(s, list, table); err != nil {
				return nil, err
			}
		}
	}
	if err := s.config.Chunking.Check(); err != nil {
		return nil, usagef("%w", err)
	}
	return s, nil
}

func (a *app) fromFlags(row setting, here string) *value {
	switch {
	case row.name == "RAGFLOW_DOCS" && len(a.flags.docs) > 0:
		return &value{values: append([]string{}, a.flags.docs...), source: "flag --docs", base: here}
	case row.name == "RAGFLOW_DATA_DIR" && a.flags.dataDir != "":
		return &value{values: []string{a.flags.dataDir}, source: "flag --data-dir", base: here}
	case row.name == "RAGFLOW_CHUNKER" && a.flags.chunker != "":
		return &value{values: []string{a.flags.chunker}, source: "flag --chunker", base: here}
	case row.name == "CHUNK_SIZE" && a.flags.chunkSize != "":
		return &value{values: []string{a.flags.chunkSize}, source: "flag --chunk-size", base: here}
	case row.name == "CHUNK_OVERLAP" && a.flags.overlap != "":
		return &value{values: []string{a.flags.overlap}, source: "flag --overlap", base: here}
	case row.name == "RAGFLOW_DICTIONARY" && a.flags.dictionary != "":
		return &value{values: []string{a.flags.dictionary}, source: "flag --dictionary", base: here}
	case row.name == "SMART_LLM_MODEL" && a.flags.model != "":
		return &value{values: []string{a.flags.model}, source: "flag --model", base: here}
	case a.flags.retrieval[row.name] != nil && *a.flags.retrieval[row.name] != "":
		return &value{values: []string{*a.flags.retrieval[row.name]}, source: "flag --" + retrievalFlagNames()[row.name], base: here}
	case row.name == "GRADER_LLM_MODEL" && a.flags.graderModel != "":
		return &value{values: []string{a.flags.graderModel}, source: "flag --grader-model", base: here}
	}
	return nil
}

func (a *app) fromEnvironment(row setting, here string) *value {
	text := a.env[row.name]
	if text == "" {
		return nil
	}
	return &value{values: row.split(text), source: "environment", base: here}
}

// split takes the text of a variable apart.
func (s setting) split(text string) []string {
	if s.raw {
		return []string{text}
	}
	if !s.list {
		return []string{strings.TrimSpace(text)}
	}
	var out []string
	for _, p := range filepath.SplitList(text) {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// absolute makes a path absolute. A leading ~/ is the home folder, for shells
// do not see what stands in files. The sign for standard input stays.
func absolute(base, p string) string {
	if rest, ok := strings.CutPrefix(filepath.ToSlash(p), "~/"); ok && xdg.Home != "" {
		return filepath.Join(xdg.Home, rest)
	}
	if p == stdinDocs || p == "" { // an empty path is refused later, not taken for this folder
		return p
	}
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(base, p)
}

// findProject returns the nearest folder, from here upward, that holds a
// folder .ragflow; empty where none does.
func (a *app) findProject(here string) string {
	for dir := here; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, projectDir)); err == nil && info.IsDir() {
			if ownFile(info) {
				return dir
			}
			a.warn(filepath.Join(dir, projectDir) + " belongs to another user and is not used")
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// defaultData is where threads and index live unless told otherwise.
func (a *app) defaultData(project string) string {
	if project != "" {
		return filepath.Join(project, projectDir)
	}
	return filepath.Join(a.home("XDG_DATA_HOME", xdg.DataHome), "ragflow")
}

// home returns a base folder of the XDG specification, by which relative values
// are void.
func (a *app) home(name, fallback string) string {
	if p := a.env[name]; filepath.IsAbs(p) {
		return p
	}
	return fallback
}

// where names a place in a file as people type it.
func where(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}
