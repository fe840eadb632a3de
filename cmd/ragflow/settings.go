package main

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"
	"github.com/spf13/pflag"

	"example.com/ragflow"
	"example.com/ragflow/cmd/ragflow/config"
	"example.com/ragflow/ingest/chunk"
)

// projectDir is the folder that makes the folder it lies in a project, as .git
// does for git.
const projectDir = ".ragflow"

// settingFlags are the flags of settings: one set for all commands, of which one
// runs.
type settingFlags struct {
	docs       []string
	offline    bool
	collection string
	filter     filterFlags
	texts      map[string]*textFlag // by the name of the setting
}

// textFlag is a flag that sets a setting.
type textFlag struct{ name, value string }

// textFlag adds a flag for a setting to a command.
func (a *app) textFlag(f *pflag.FlagSet, setting, flag, usage string) {
	if a.flags.texts == nil {
		a.flags.texts = map[string]*textFlag{}
	}
	if a.flags.texts[setting] == nil {
		a.flags.texts[setting] = &textFlag{name: flag}
	}
	f.StringVar(&a.flags.texts[setting].value, flag, "", usage)
}

// flagged is what the flag of a setting was given; empty without.
func (a *app) flagged(setting string) string {
	if t := a.flags.texts[setting]; t != nil {
		return t.value
	}
	return ""
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
	models  *config.Models
	table   []config.Setting
	rows    []settingRow
	here    string            // folder that was looked from
	files   map[string][]byte // files of the project that were read
	refused []refusal         // what they set and may not, while they are not trusted
	foreign string            // data folder whose databases came with the project and are not trusted
	unused  string            // data folder that the project names and that holds nothing yet
}

// settingRow is one line of "ragflow config".
type settingRow struct {
	Name   string   `json:"name"`
	Key    string   `json:"key"`
	Values []string `json:"values"`
	Source string   `json:"source"`

	first bool // on the first page
	own   bool // a collection has its own
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
	s.models = &config.Models{Offline: a.flags.offline}
	s.config.Logger = slog.New(warnings{app: a})
	table := config.Table(&s.config, a.defaultData(s.project), s.models)
	file, err := a.readConfigFile(s, list, table)
	if err != nil {
		return nil, err
	}
	if file != nil {
		s.file = file.path
	}
	var named *configFile // what the collection that is asked for noted
	for _, row := range table {
		preset := &value{source: "default", base: here}
		if row.Preset != "" {
			preset.values = []string{row.Preset}
		}
		v := a.configured(s, row, named, a.fromEnvironment(row, here), dotenv.value(row), file.value(row), preset)
		if address := s.addressOfProject(row, v); address != "" {
			v = preset
			if own := dotenv.value(row); own != nil && own.untrusted == "" { // named in the same place
				v = own
			} else {
				a.warnOnce(fmt.Sprintf("%s of the environment is not sent to the address of %s: name both in one place", row.Name, address))
			}
		}
		if row.Has(config.Path) {
			for i, p := range v.values {
				v.values[i] = absolute(v.base, p)
			}
		}
		if len(v.values) > 0 && (!row.Has(config.Zero) || v != preset) && !row.Take(v.values) {
			f := usagef("%s is %q but must be %s (%s)", row.Name, strings.Join(v.values, " "), row.Allowed, v.source)
			if row.Has(config.Address) {
				f = usagef("%s must be %s (%s)", row.Name, row.Allowed, v.source)
			}
			return nil, f.with("change it there, or take it out; the default is " + orNone(row.Preset))
		}
		if row.Note != "" {
			if v != preset && v.values[0] != row.Preset {
				a.warnOnce(row.Name + " has no effect: " + row.Note)
			}
			continue
		}
		if row.Has(config.Secret) && len(v.values) > 0 {
			v.values = []string{"set"}
		}
		if row.Has(config.Address) && len(v.values) > 0 {
			v.values = []string{config.Redacted(v.values[0])}
		}
		if i := slices.IndexFunc(s.refused, func(r refusal) bool { return r.row.Name == row.Name }); i >= 0 {
			v.source += " (" + s.refused[i].source + " is not trusted)"
		}
		s.rows = append(s.rows, settingRow{row.Name, row.Key, append([]string{}, v.values...), v.source, row.Has(config.FirstPage), row.Has(config.Own)})
		if row.Name == "RAGFLOW_DATA_DIR" { // the first, for all others may stand there
			s.config.Collection = a.flags.collection
			if err := a.checkData(s, list); err != nil {
				return nil, err
			}
			if named, err = a.readCollection(s, list, table); err != nil {
				return nil, err
			}
		}
	}
	s.table = table
	return s, a.finish(s, dotenv)
}

// finish checks what the settings make together, and warns of those that nothing reads.
func (a *app) finish(s *settings, dotenv *dotenv) error {
	if a.flagged("RETRIEVAL_PRESET") == "" { // a flag says how one search works, or one folder is cut
		s.config.Chunking = ragflow.PresetNamed(s.config.Preset).Cut(s.config.Chunking)
	}
	if err := s.config.Chunking.Check(); err != nil {
		return usagef("%w", err)
	}
	variables := maps.Clone(a.env)
	if dotenv != nil {
		maps.Copy(variables, dotenv.values)
	}
	if names := config.Foreign(s.table, variables); len(names) > 0 {
		a.warnOnce(strings.Join(names, ", ") + ": no effect; RAGFLOW_INDEX names a server for the index, and RAG_VECTOR_WEIGHT, RAG_KEYWORD_WEIGHT and RAG_GRAPH_WEIGHT weigh its searches")
	}
	return nil
}

// inForce shows what presets and other settings make of the defaults.
func (s *settings) inForce() {
	c := s.config
	_ = s.models.Configure(&c, config.AllModels) // a model that cannot be used changes nothing
	c.KeepChunking = true
	plain := c
	plain.Preset, plain.Chunking = "", chunk.Options{}
	with, _ := c.Resolve() // faults are those of the command that uses it
	without, _ := plain.Resolve()
	for i := range s.rows {
		r := &s.rows[i]
		row := s.table[slices.IndexFunc(s.table, func(t config.Setting) bool { return t.Name == r.Name })]
		text, ok := row.InForce(with)
		if !ok || r.Source != "default" {
			continue
		}
		if before, _ := row.InForce(without); before != text {
			r.Source = "preset " + c.Preset
		}
		r.Values = []string{text}
	}
}

// addressOfProject returns the place in a file of the project that says where a key of the
// environment would go; "" where none does.
func (s *settings) addressOfProject(row config.Setting, v *value) string {
	if !row.Has(config.Secret) || v.source != "environment" {
		return ""
	}
	for _, name := range config.AddressesOf(row.Name) {
		i := slices.IndexFunc(s.rows, func(r settingRow) bool { return r.Name == name && len(r.Values) > 0 })
		if i >= 0 && s.ofProject(s.rows[i].Source) {
			return s.rows[i].Source
		}
		if i >= 0 {
			return "" // the key goes there
		}
	}
	return ""
}

// ofProject reports whether a source of a value is a file that may have come with a project.
func (s *settings) ofProject(source string) bool {
	for path := range s.files {
		if strings.HasPrefix(source, path) {
			return true
		}
	}
	return false
}

// sourceOf says where the value of a setting comes from.
func (s *settings) sourceOf(name string) string {
	i := slices.IndexFunc(s.rows, func(r settingRow) bool { return r.Name == name })
	return s.rows[i].Source
}

func (a *app) fromFlags(row config.Setting, here string) *value {
	if row.Name == "RAGFLOW_DOCS" && len(a.flags.docs) > 0 {
		return &value{values: slices.Clone(a.flags.docs), source: "flag --docs", base: here}
	}
	if text := a.flagged(row.Name); text != "" {
		return &value{values: []string{text}, source: "flag --" + a.flags.texts[row.Name].name, base: here}
	}
	return nil
}

func (a *app) fromEnvironment(row config.Setting, here string) *value {
	text := a.env[row.Variable(a.env)]
	if text == "" {
		return nil
	}
	return &value{values: row.Split(text), source: "environment", base: here}
}

// absolute makes a path absolute. A leading ~/ is the home folder, for shells
// do not expand paths that come from files.
func absolute(base, p string) string {
	if rest, ok := strings.CutPrefix(filepath.ToSlash(p), "~/"); ok && xdg.Home != "" {
		return filepath.Join(xdg.Home, rest)
	}
	if p == "" { // an empty path is refused later, not taken for this folder
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
			a.warnOnce(filepath.Join(dir, projectDir) + " belongs to another user and is not used")
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
