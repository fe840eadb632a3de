package settings

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/internal/chunk"
)

// Input holds the sources of settings other than files.
type Input struct {
	Dir     string // the search for .env and the project begins here; empty: the working folder
	Env     map[string]string
	Flags   map[string]*Flag // see [Flags]; may be nil
	Offline bool             // use no model

	Collection    string // empty: none
	NewCollection bool   // Collection may be one that does not exist yet, if Flags name documents
	Reembed       bool   // the embedding model configured now counts, not the one noted by the collection
}

// Flag is a flag of the command line that sets a setting.
type Flag struct {
	Name   string
	Usage  string   // for help, with the name of the value in backquotes
	Values []string // given; empty: the flag was not
}

// findDir fills in the working folder.
func (in *Input) findDir() (err error) {
	if in.Dir == "" {
		in.Dir, err = os.Getwd()
	}
	return failed("find the working folder", err)
}

// given reports whether the flag of a setting was given.
func (in Input) given(setting string) bool {
	f := in.Flags[setting]
	return f != nil && len(f.Values) > 0
}

// Flags returns a new Flag for each setting that has one, by the variable of the setting.
func Flags() map[string]*Flag {
	flags := map[string]*Flag{}
	for _, row := range tableOf(&ragflow.Config{}, "", &Models{}) {
		if row.flag.Name != "" {
			flags[row.name] = &row.flag
		}
	}
	return flags
}

// Settings is everything that is configured. It is not safe for concurrent use.
type Settings struct {
	Config  ragflow.Config // without models, see [Models.Configure]
	Models  *Models
	Project string // folder that holds .ragflow; empty outside of projects
	File    string // configuration file that was read; empty if there is none
	Rows    []Row  // in the order of the table
	Refused []Refusal
	Foreign string // data folder whose databases came with the project and are not trusted; empty if there is none

	in    Input
	table []setting
	files map[string][]byte // files of the project that were read
	fresh string            // data folder that the project names and that holds nothing yet
}

// Row is a setting as "ragflow config" shows it.
type Row struct {
	Name   string   `json:"name"`
	Key    string   `json:"key"` // in the configuration file; empty for keys
	Values []string `json:"values"`
	Source string   `json:"source"`

	FirstPage bool `json:"-"`
}

// Set reports whether somebody set the value.
func (r Row) Set() bool { return r.Source != bySetting }

// bySetting is the source of a value that nobody set.
const bySetting = "default"

// value is what a source says of a setting.
type value struct {
	values []string
	source string // for people: flag --docs, environment, .env:3, config.yaml:7, default
	base   string // folder that relative paths start from

	untrusted string // file of a project that says so, if the person has not trusted it
}

// loader is one call of Load.
type loader struct {
	*Settings

	trusted trustList
	notices []Notice
	dotenv  *dotenv
	file    *configFile
	noted   *configFile // what the collection noted when it was made
}

// Load reads the settings. Values that need trust and lack it are left out and listed in
// Refused; see [Settings.CheckTrust]. Notices are complete even if there is an error, which is
// an [*Error] or matches an error of the system.
func Load(in Input) (*Settings, []Notice, error) {
	if err := in.findDir(); err != nil {
		return nil, nil, err
	}
	l := &loader{Settings: &Settings{in: in, Models: &Models{Offline: in.Offline}, files: map[string][]byte{}}}
	if err := l.load(); err != nil {
		return nil, l.notices, err
	}
	return l.Settings, l.notices, nil
}

func (l *loader) load() (err error) {
	l.Project = l.findProject()
	if l.trusted, err = l.in.readTrust(); err != nil {
		return err
	}
	if err = l.readDotenv(); err != nil {
		return err
	}
	l.table = tableOf(&l.Config, l.in.dataDir(l.Project), l.Models)
	if err = l.readConfigFile(); err != nil {
		return err
	}
	for _, row := range l.table {
		if err = l.take(row); err != nil {
			return err
		}
		if row.name != dataDirName { // the first one: the others may stand in it
			continue
		}
		l.Config.Collection = l.in.Collection
		if err = l.checkData(); err != nil {
			return err
		}
		if err = l.readCollection(); err != nil {
			return err
		}
	}
	return l.finish()
}

// take sets one setting and adds its row.
func (l *loader) take(row setting) error {
	preset := &value{source: bySetting, base: l.in.Dir}
	if row.preset != "" {
		preset.values = []string{row.preset}
	}
	v := l.keepKeyHome(row, l.choose(row, preset), preset)
	if row.has(isPath) {
		for i, p := range v.values {
			v.values[i] = absolute(v.base, p)
		}
	}
	if len(v.values) > 0 && (!row.has(keepsZero) || v != preset) && !row.take(v.values) {
		err := errorf("%s is %q but must be %s (%s)", row.name, strings.Join(v.values, " "), row.allowed, v.source)
		if row.has(isAddress) {
			err = errorf("%s must be %s (%s)", row.name, row.allowed, v.source)
		}
		none := row.preset
		if none == "" {
			none = "(none)"
		}
		return err.with("change it there, or take it out; the default is " + none)
	}
	shown := append([]string{}, v.values...)
	switch {
	case len(shown) > 0 && row.has(isSecret):
		shown = []string{"set"}
	case len(shown) > 0 && row.has(isAddress):
		shown = []string{redacted(shown[0])}
	}
	source := v.source
	if i := slices.IndexFunc(l.Refused, func(r Refusal) bool { return r.row.name == row.name }); i >= 0 {
		source += " (" + l.Refused[i].Source + " is not trusted)"
	}
	l.Rows = append(l.Rows, Row{row.name, row.key, shown, source, row.has(firstPage)})
	return nil
}

// choose returns the value that counts: the first one of flag, collection, environment, .env,
// configuration file and default that needs no trust or has it.
func (l *loader) choose(row setting, preset *value) *value {
	flag, noted := l.ofFlag(row), l.noted.value(row)
	if !row.has(ofCollection) {
		noted = nil
	}
	if noted != nil && noted.untrusted == "" {
		noted.source = "collection " + l.in.Collection
	}
	if flag != nil && noted != nil && !needsTrust(row, noted) && row.name == docsName { // more documents for the collection
		for _, p := range flag.values {
			if p = l.Absolute(p); !slices.Contains(noted.values, p) {
				noted.values = append(noted.values, p)
			}
		}
		return noted
	}
	if noted == nil && row.name == docsName && l.in.Collection != "" {
		return cmp.Or(flag, preset) // it has documents of its own
	}
	order := []*value{flag, noted, l.ofEnvironment(row), l.dotenv.value(row), l.file.value(row)}
	if l.in.Reembed && strings.HasPrefix(row.name, "EMBEDDING_") {
		order = append(slices.Delete(order, 1, 2), noted)
	}
	for _, v := range order {
		if v != nil && needsTrust(row, v) {
			l.Refused = append(l.Refused, refusal(row, v))
		} else if v != nil {
			return v
		}
	}
	return preset
}

func (l *loader) ofFlag(row setting) *value {
	if !l.in.given(row.name) {
		return nil
	}
	f := l.in.Flags[row.name]
	return &value{values: slices.Clone(f.Values), source: "flag --" + f.Name, base: l.in.Dir}
}

func (l *loader) ofEnvironment(row setting) *value {
	text := l.in.Env[row.variable(l.in.Env)]
	if text == "" {
		return nil
	}
	return &value{values: row.split(text), source: "environment", base: l.in.Dir}
}

// keepKeyHome returns v, unless it is a key of the environment that would be sent to an address
// named by a file of the project: then the key in the same .env, else preset.
func (l *loader) keepKeyHome(row setting, v, preset *value) *value {
	if !row.has(isSecret) || v.source != "environment" {
		return v
	}
	address := ""
	for _, name := range addressesOf(row.name) {
		if r := l.row(name); len(r.Values) > 0 { // the key is sent there
			if l.ofProject(r.Source) {
				address = r.Source
			}
			break
		}
	}
	if address == "" {
		return v
	}
	if beside := l.dotenv.value(row); beside != nil && beside.untrusted == "" {
		return beside
	}
	l.notice("%s of the environment is not sent to the address of %s: name both in one place", row.name, address)
	return preset
}

// foreignName matches the variables of other systems.
var foreignName = regexp.MustCompile("^(RAG|MMR|EMBEDDING|QDRANT|NEO4J|CHROMADB)_")

// finish checks the settings together, and warns of variables that nothing reads.
func (l *loader) finish() error {
	if !l.in.given("RETRIEVAL_PRESET") { // the flag is about one search, or one folder
		l.Config.Chunking = ragflow.PresetNamed(l.Config.Preset).Cut(l.Config.Chunking)
	}
	if err := l.Config.Chunking.Check(); err != nil {
		return errorf("%w", err)
	}
	variables := map[string]string{}
	maps.Copy(variables, l.in.Env)
	if l.dotenv != nil {
		maps.Copy(variables, l.dotenv.values)
	}
	var unread []string
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		known := slices.ContainsFunc(l.table, func(s setting) bool { return s.name == name || s.also == name })
		if !known && variables[name] != "" && foreignName.MatchString(name) {
			unread = append(unread, name)
		}
	}
	if len(unread) > 0 {
		l.notice("%s: no effect; RAGFLOW_INDEX names a server for the index, and RAG_VECTOR_WEIGHT, RAG_KEYWORD_WEIGHT and RAG_GRAPH_WEIGHT weigh its searches",
			strings.Join(unread, ", "))
	}
	return nil
}

// notice adds a warning, once.
func (l *loader) notice(format string, args ...any) {
	if n := Notice(fmt.Sprintf(format, args...)); !slices.Contains(l.notices, n) {
		l.notices = append(l.notices, n)
	}
}

// ShowInForce puts the values in force into the rows of settings that nobody set: a preset or
// another setting may change a default.
func (s *Settings) ShowInForce() {
	c := s.Config
	_ = s.Models.Configure(&c, AllModels) // a model that cannot be used changes nothing
	c.KeepChunking = true
	plain := c
	plain.Preset, plain.Chunking = "", chunk.Options{}
	with, _ := c.Resolve() // the command that uses a wrong setting reports it
	without, _ := plain.Resolve()
	for i, row := range s.table {
		r := &s.Rows[i]
		text, ok := row.valueIn(with)
		if !ok || r.Set() {
			continue
		}
		if before, _ := row.valueIn(without); before != text {
			r.Source = "preset " + c.Preset
		}
		r.Values = []string{text}
	}
}

// Source says where the value of a setting comes from, such as "environment" or "FILE:LINE".
func (s *Settings) Source(name string) string { return s.row(name).Source }

func (s *Settings) row(name string) Row {
	for _, r := range s.Rows {
		if r.Name == name {
			return r
		}
	}
	return Row{}
}

// ofProject reports whether a source of a value is a file that may have come with a project.
func (s *Settings) ofProject(source string) bool {
	for path := range s.files {
		if strings.HasPrefix(source, path) {
			return true
		}
	}
	return false
}
