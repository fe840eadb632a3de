package load

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/folder"
	"example.com/ragflow/state"
)

// sidecar reads the metadata file of a document. It has precedence over the metadata in the
// document.
func (d *draft) sidecar(path string) (content []byte) {
	name := folder.Sidecar(path)
	if name == "" {
		return nil
	}
	data, err := read(name, maxFrontMatter)
	if err != nil {
		d.Notes = append(d.Notes, fmt.Sprintf("its metadata: %v", folder.Reason(err)))
		return nil
	}
	meta, err := parseMeta(strings.TrimPrefix(string(data), "\uFEFF"))
	if err != nil {
		d.Notes = append(d.Notes, fmt.Sprintf("its metadata: %v", err))
	}
	if len(meta) == 0 {
		return data
	}
	if d.Metadata == nil {
		d.Metadata = state.Metadata{}
		for key, value := range d.Meta {
			d.Metadata[key] = value
		}
	}
	maps.Copy(d.Metadata, meta)
	d.Meta = d.Metadata.Strings()
	d.Title = cmp.Or(meta.Strings()["title"], d.Title)
	d.URL = document.Address(d.Meta)
	return data
}
