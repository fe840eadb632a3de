package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"
	"go.yaml.in/yaml/v4"

	"example.com/ragflow/cmd/ragflow/config"
	"example.com/ragflow/internal/newfile"
)

// configName is the name of the configuration file in its folder.
const configName = "config.yaml"

// configFile is a configuration file that was read.
type configFile struct {
	path string
	base string // folder that relative paths start from
	keys map[string]value

	untrusted string // path, unless the person trusted this content or it is the person's own file
}

// exampleSetting shows how a setting is written in the file.
const exampleSetting = "a setting is a line such as: relevance_threshold: 0.5"

// readConfigFile reads the project's configuration file or else the person's;
// nil without one. A key that is no setting is an error: it would otherwise be
// a setting that silently does nothing.
func (a *app) readConfigFile(s *settings, list trustList, table []config.Setting) (*configFile, error) {
	for _, path := range a.configPaths(s.project) {
		data, err := a.readProjectFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, failed("read the configuration", err)
		}
		f := &configFile{path: path, base: filepath.Dir(path), keys: map[string]value{}}
		if filepath.Base(f.base) == projectDir {
			f.base = filepath.Dir(f.base)
			f.untrusted = list.untrusted(path, data)
			s.files[path] = data
		}
		return f, f.parse(data, table)
	}
	return nil, nil // no file is no error, and a nil *configFile holds nothing
}

// configPaths lists where the configuration file may be, the first that exists
// counts.
func (a *app) configPaths(project string) []string {
	var paths []string
	if project != "" {
		paths = append(paths, filepath.Join(project, projectDir, configName))
	}
	return append(paths, filepath.Join(a.home("XDG_CONFIG_HOME", xdg.ConfigHome), "ragflow", configName))
}

func (f *configFile) parse(data []byte, table []config.Setting) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return usagef("%s is not YAML: %s", f.path, strings.TrimPrefix(err.Error(), "yaml: ")).with(exampleSetting)
	}
	if len(doc.Content) == 0 {
		return nil // empty, or only comments
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return usagef("%s: must hold lines of the form key: value", where(f.path, top.Line)).with(exampleSetting)
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, val := top.Content[i], top.Content[i+1]
		if err := f.take(key, val, table); err != nil {
			return err
		}
	}
	return nil
}

// take reads one key and its value.
func (f *configFile) take(key, val *yaml.Node, table []config.Setting) error {
	at := where(f.path, key.Line)
	var row *config.Setting
	for i := range table {
		if !table[i].Has(config.Secret) && table[i].Key == key.Value {
			row = &table[i]
		}
	}
	if row == nil && isKeyName(key.Value) {
		return usagef("%s: keys do not belong in the configuration file, which others may read", at).
			with("put OPENAI_API_KEY, OPENROUTER_API_KEY or EMBEDDING_API_KEY into the environment or .env")
	}
	if row == nil {
		bad := usagef("%s: unknown key %q", at, key.Value)
		near := slices.DeleteFunc(keysOf(table), func(k string) bool { return !strings.HasPrefix(k, key.Value[:min(3, len(key.Value))]) })
		bad.hint = "ragflow config --all, run in another folder, shows all keys"
		if len(near) > 0 {
			bad.hint = "there are: " + strings.Join(near, ", ")
		}
		return bad
	}
	if _, twice := f.keys[row.Key]; twice {
		return usagef("%s: %s is set twice", at, row.Key).with("take one of the lines out")
	}
	v := value{source: at, base: f.base, untrusted: f.untrusted}
	switch {
	case val.Kind == yaml.ScalarNode && val.Tag == "!!null":
		return nil // "docs:" with nothing behind it says nothing
	case val.Kind == yaml.ScalarNode:
		v.values = []string{val.Value}
	case row.Has(config.Words):
		v.values = []string{joined(val)}
	case val.Kind == yaml.SequenceNode && row.Has(config.List):
		for _, e := range val.Content {
			if e.Kind != yaml.ScalarNode || e.Value == "" {
				return usagef("%s: %s must be a list of %s", where(f.path, e.Line), row.Key, row.Allowed).with("correct the line, or take it out")
			}
			v.values = append(v.values, e.Value)
		}
	default:
		return usagef("%s: %s must be %s", at, row.Key, row.Allowed).with("correct the line, or take it out")
	}
	f.keys[row.Key] = v
	return nil
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

// value returns what the file says of a setting; nil where it says nothing.
func (f *configFile) value(row config.Setting) *value {
	if f == nil {
		return nil
	}
	v, ok := f.keys[row.Key]
	if !ok || len(v.values) == 0 {
		return nil
	}
	return &v
}

func keysOf(table []config.Setting) []string {
	keys := make([]string, 0, len(table))
	for _, s := range table {
		if !s.Has(config.Secret) {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// isKeyName reports whether a name is meant for a key of a provider.
func isKeyName(name string) bool {
	name = strings.ToLower(strings.NewReplacer("-", "_", " ", "_").Replace(name))
	return strings.Contains(name, "api_key") || strings.Contains(name, "apikey") || strings.Contains(name, "secret")
}

// writeSetting writes the line of one setting into a configuration file and returns the
// new content. Other lines stay as they are. A file that would no longer be read is not
// written.
func writeSetting(path, key, text string, table []config.Setting) ([]byte, error) {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	setting, err := yaml.Marshal(map[string]string{key: text})
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(string(old), "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, key+":") })
	switch last := len(lines) - 1; {
	case at >= 0:
		lines[at] = string(setting)
	case lines[last] == "":
		lines[last] = string(setting)
	default:
		lines = append(lines, "\n", string(setting))
	}
	data := []byte(strings.Join(lines, ""))
	f := configFile{path: path, keys: map[string]value{}}
	if err := f.parse(data, table); err != nil {
		return nil, err
	}
	return data, newfile.WriteBytes(path, data)
}
