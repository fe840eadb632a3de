package settings

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"example.com/ragflow"
	"example.com/ragflow/internal/newfile"
)

// configName is the name of the configuration file in its folder.
const configName = "config.yaml"

// configFile is a configuration file. A nil configFile is empty.
type configFile struct {
	path string
	base string // folder that relative paths start from
	keys map[string]value

	untrusted string // path, unless the person trusted this content or it is the person's own file
}

// exampleLine shows how a setting is written in the file.
const exampleLine = "a setting is a line such as: relevance_threshold: 0.5"

// readConfigFile reads the configuration file of the project, else of the person.
func (l *loader) readConfigFile() error {
	for _, path := range l.configPaths() {
		data, err := l.readFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return failed("read the configuration", err)
		}
		f := &configFile{path: path, base: filepath.Dir(path)}
		if filepath.Base(f.base) == projectDir {
			f.base, f.untrusted, l.files[path] = filepath.Dir(f.base), l.trusted.untrusted(path, data), data
		}
		l.file, l.File = f, path
		return f.parse(data, l.table)
	}
	return nil
}

// configPaths lists where the configuration file may be; the first one that exists counts.
func (s *Settings) configPaths() []string {
	var paths []string
	if s.Project != "" {
		paths = append(paths, filepath.Join(s.Project, projectDir, configName))
	}
	return append(paths, filepath.Join(s.in.configDir(), configName))
}

// parse reads the content of the file. A key that is no setting is an error, for it would
// silently do nothing.
func (f *configFile) parse(data []byte, table []setting) error {
	f.keys = map[string]value{}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return errorf("%s is not YAML: %s", f.path, strings.TrimPrefix(err.Error(), "yaml: ")).with(exampleLine)
	}
	if len(doc.Content) == 0 {
		return nil // empty, or only comments
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return errorf("%s: must hold lines of the form key: value", place(f.path, top.Line)).with(exampleLine)
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		if err := f.take(top.Content[i], top.Content[i+1], table); err != nil {
			return err
		}
	}
	return nil
}

// take reads one key and its value.
func (f *configFile) take(key, val *yaml.Node, table []setting) error {
	at := place(f.path, key.Line)
	i := slices.IndexFunc(table, func(s setting) bool { return s.key == key.Value && s.key != "" })
	if i < 0 {
		return unknownKey(at, key.Value, table)
	}
	row := table[i]
	if _, twice := f.keys[row.key]; twice {
		return errorf("%s: %s is set twice", at, row.key).with("take one of the lines out")
	}
	const correct = "correct the line, or take it out"
	v := value{source: at, base: f.base, untrusted: f.untrusted}
	switch {
	case val.Kind == yaml.ScalarNode && val.Tag == "!!null":
		return nil // "docs:" without a value sets nothing
	case val.Kind == yaml.ScalarNode:
		v.values = []string{val.Value}
	case row.has(isWords):
		v.values = []string{joined(val)}
	case val.Kind == yaml.SequenceNode && row.has(isList):
		for _, e := range val.Content {
			if e.Kind != yaml.ScalarNode || e.Value == "" {
				return errorf("%s: %s must be a list of %s", place(f.path, e.Line), row.key, row.allowed).with(correct)
			}
			v.values = append(v.values, e.Value)
		}
	default:
		return errorf("%s: %s must be %s", at, row.key, row.allowed).with(correct)
	}
	f.keys[row.key] = v
	return nil
}

// unknownKey is the error of a key that is no setting, with those that begin like it.
func unknownKey(at, key string, table []setting) error {
	if isKeyName(key) {
		return errorf("%s: keys do not belong in the configuration file, which others may read", at).
			with("put OPENAI_API_KEY, OPENROUTER_API_KEY or EMBEDDING_API_KEY into the environment or .env")
	}
	var near []string
	for _, s := range table {
		if s.key != "" && strings.HasPrefix(s.key, key[:min(3, len(key))]) {
			near = append(near, s.key)
		}
	}
	bad := errorf("%s: unknown key %q", at, key)
	if len(near) == 0 {
		return bad.with("ragflow config --all, run in another folder, shows all keys")
	}
	return bad.with("there are: " + strings.Join(near, ", "))
}

// joined writes lists and maps as words, such as a=b c.
func joined(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	var b strings.Builder
	for i, c := range n.Content {
		b.WriteString(joined(c))
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			b.WriteByte('=')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// value returns the value of a setting; nil if the file does not set it.
func (f *configFile) value(row setting) *value {
	if f == nil {
		return nil
	}
	v, ok := f.keys[row.key]
	if !ok || len(v.values) == 0 {
		return nil
	}
	return &v
}

// isKeyName reports whether a name is meant for a key of a provider.
func isKeyName(name string) bool {
	name = strings.ToLower(strings.NewReplacer("-", "_", " ", "_").Replace(name))
	return strings.Contains(name, "api_key") || strings.Contains(name, "apikey") || strings.Contains(name, "secret")
}

// setKey writes the line of one setting into a configuration file, whose other lines stay, and
// trusts the file if trust is true. A file that could then no longer be read is not written.
func (in Input) setKey(path, key string, value any, trust bool) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	line, err := yaml.Marshal(map[string]any{key: value})
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(string(old), "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, key+":") })
	switch last := len(lines) - 1; {
	case at >= 0:
		lines[at] = string(line)
	case lines[last] == "":
		lines[last] = string(line)
	default:
		lines = append(lines, "\n", string(line))
	}
	data := []byte(strings.Join(lines, ""))
	f := configFile{path: path}
	if err := f.parse(data, tableOf(&ragflow.Config{}, "", &Models{})); err != nil {
		return err
	}
	if err := newfile.WriteBytes(path, data); err != nil || !trust {
		return err
	}
	return in.trust(map[string][]byte{path: data})
}

// UseModel makes a model the one that answers, as [Settings.Write] writes it; an empty name makes it none.
func (s *Settings) UseModel(name string) (path string, err error) {
	if strings.ContainsAny(name, " \t\r\n") {
		return "", errorf("%q is no name of a model", name).with("write PROVIDER:MODEL, such as ollama:llama3.2")
	}
	if name != "" && len(s.Refused) == 0 {
		if _, err := s.Models.Chat(name); err != nil {
			return "", err
		}
	}
	return s.Write(map[string]string{"SMART_LLM_MODEL": name})
}

// Write puts settings into the configuration file that was read, else into the one of the project or the person, by
// the names of their variables. It returns the path.
func (s *Settings) Write(values map[string]string) (path string, err error) {
	if len(s.Refused) > 0 {
		return "", &Error{Err: errors.New("the configuration of this project is not trusted"), Hint: "look at it, then: ragflow trust", Conflict: true}
	}
	if path = s.File; path == "" {
		path = s.configPaths()[0]
	}
	ofProject := s.files[path] != nil || s.Project != "" && strings.HasPrefix(path, s.Project)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := s.in.setKey(path, s.row(name).Key, values[name], ofProject); err != nil {
			return path, failed("write "+path, err)
		}
	}
	return path, nil
}

// CheckTrial refuses a setting that cannot differ from one run to the next over the same documents.
func (s *Settings) CheckTrial(name string) error {
	i := slices.IndexFunc(s.table, func(row setting) bool { return row.name == name })
	switch {
	case i < 0:
		return errorf("there is no setting %q", name).with("ragflow config --all shows them")
	case s.table[i].has(isSecret | isPath | ofCollection | isAddress):
		return errorf("%s cannot be tried: it says which documents, places or keys are used, or how documents are indexed", name).
			with("compare two runs: ragflow eval --json > a.json, change it, ragflow eval --json > b.json, then ragflow eval compare a.json b.json")
	}
	return nil
}
