package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v4"

	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/newfile"
)

// readCollection reads the settings that the collection noted when it was made, in a
// configuration file of its own. There are none if no collection is asked for, or if it is made now.
func (l *loader) readCollection() error {
	name := l.in.Collection
	if name == "" {
		return nil
	}
	if err := ingest.CheckCollection(name); err != nil {
		return err
	}
	path := filepath.Join(ingest.CollectionDir(l.Config.DataDir, name), configName)
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && l.in.NewCollection && l.in.given(docsName):
		return nil
	case errors.Is(err, fs.ErrNotExist) && ingest.CheckPath(filepath.Dir(path)) == nil:
		return nil // made by a program, which notes no settings
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("collection %q: %w", name, ingest.ErrNoCollection)
	case err != nil:
		return failed("read the collection", err)
	}
	l.noted = &configFile{path: path, base: filepath.Dir(path)}
	if l.Project != "" && newfile.Inside(l.Project, path) { // it may have come with the project
		l.noted.untrusted, l.files[path] = l.trusted.untrusted(path, data), data
	}
	return l.noted.parse(data, l.table)
}

// DropDocs takes folders and files out of those that are noted for the collection.
func (s *Settings) DropDocs(paths ...string) error {
	i := slices.IndexFunc(s.Rows, func(r Row) bool { return r.Name == docsName })
	before := len(s.Rows[i].Values)
	for _, p := range paths {
		p = s.Absolute(p)
		s.Rows[i].Values = slices.DeleteFunc(s.Rows[i].Values, func(v string) bool { return s.Absolute(v) == p })
	}
	if len(s.Rows[i].Values) == before {
		return nil
	}
	return s.KeepCollection()
}

// KeepCollection notes the settings of the collection for later commands.
func (s *Settings) KeepCollection() error {
	name := s.in.Collection
	if name == "" {
		return nil
	}
	noted := map[string]any{}
	for i, r := range s.Rows {
		switch {
		case !s.table[i].has(ofCollection) || !r.Set() || len(r.Values) == 0:
		case r.Name == docsName:
			noted[r.Key] = r.Values
		default:
			noted[r.Key] = r.Values[0]
		}
	}
	text, err := yaml.Marshal(noted)
	if err != nil {
		return failed("note the settings of the collection", err)
	}
	text = fmt.Appendf(nil, "# Settings of the collection %s; see: ragflow index collections\n%s", name, text)
	path := filepath.Join(ingest.CollectionDir(s.Config.DataDir, name), configName)
	if err := newfile.WriteBytes(path, text); err != nil || s.Project == "" {
		return failed("make the collection", err)
	}
	return s.in.trust(map[string][]byte{path: text})
}
