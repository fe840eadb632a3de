package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"example.com/ragflow/cmd/ragflow/config"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/newfile"
)

// readCollection reads what was noted of the collection that is asked for: a
// configuration file of its own. It is nil where none is asked for, or where one
// is just made.
func (a *app) readCollection(s *settings, list trustList, table []config.Setting) (*configFile, error) {
	name := a.flags.collection
	if name == "" {
		return nil, nil // nothing noted, and a nil *configFile holds nothing
	}
	if err := ingest.CheckCollection(name); err != nil {
		return nil, failed("", err)
	}
	path := filepath.Join(ingest.CollectionDir(s.config.DataDir, name), configName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if a.collecting && len(a.flags.docs) > 0 {
			return nil, nil // it is made now
		}
		return nil, failed("", fmt.Errorf("collection %q: %w", name, ingest.ErrNoCollection))
	}
	if err != nil {
		return nil, failed("read the collection", err)
	}
	f := &configFile{path: path, base: filepath.Dir(path), keys: map[string]value{}}
	if s.project != "" && inside(s.project, path) { // it may have come with the project
		f.untrusted = list.untrusted(path, data)
		s.files[path] = data
	}
	return f, f.parse(data, table)
}

// configured finds the value of a setting. What a collection noted comes before
// all but flags; when its vectors are made anew, what is configured now does.
func (a *app) configured(s *settings, row config.Setting, named *configFile, others ...*value) *value {
	here := s.here
	flag := a.fromFlags(row, here)
	noted := named.value(row)
	if !row.Has(config.Own) {
		noted = nil
	}
	if noted != nil && noted.untrusted == "" {
		noted.source = "collection " + a.flags.collection
	}
	if flag != nil && noted != nil && !needsTrust(row, noted) && row.Name == "RAGFLOW_DOCS" { // more folders for the set
		for _, p := range flag.values {
			if p = absolute(here, p); !slices.Contains(noted.values, p) {
				noted.values = append(noted.values, p)
			}
		}
		return noted
	}
	order := append([]*value{flag, noted}, others...)
	if a.reembedding && strings.HasPrefix(row.Name, "EMBEDDING_") {
		order = slices.Concat([]*value{flag}, others[:len(others)-1], []*value{noted}, others[len(others)-1:])
	}
	for _, v := range order {
		if v != nil && needsTrust(row, v) {
			s.refused = append(s.refused, refusal{row, v.untrusted, v.source})
		} else if v != nil {
			return v
		}
	}
	return nil
}

// keepCollection notes the settings of a collection for later commands.
func (a *app) keepCollection(s *settings) error {
	if a.flags.collection == "" {
		return nil
	}
	noted := map[string]any{}
	for _, row := range s.rows {
		switch {
		case !row.own || row.Source == "default" || len(row.Values) == 0:
		case row.Name == "RAGFLOW_DOCS":
			noted[row.Key] = row.Values
		default:
			noted[row.Key] = row.Values[0]
		}
	}
	text, err := yaml.Marshal(noted)
	if err != nil {
		return failed("note the settings of the collection", err)
	}
	dir := ingest.CollectionDir(s.config.DataDir, a.flags.collection)
	text = fmt.Appendf(nil, "# Settings of the collection %s; see: ragflow index collections\n%s", a.flags.collection, text)
	if err := newfile.WriteBytes(filepath.Join(dir, configName), text); err != nil {
		return failed("make the collection", err)
	}
	if s.project != "" {
		return a.trustContent(map[string][]byte{filepath.Join(dir, configName): text})
	}
	return nil
}
