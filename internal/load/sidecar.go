package load

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"strings"

	"example.com/ragflow/state"
)

// MetadataEnds are the endings that a metadata file adds to the name of its document:
// handbook.pdf.meta.yaml.
func MetadataEnds() []string { return []string{".meta.yaml", ".meta.yml", ".meta.json"} }

// sidecarOf returns the metadata file of a document; "" without one.
func sidecarOf(document string) string {
	for _, end := range MetadataEnds() {
		if info, err := os.Stat(document + end); err == nil && info.Mode().IsRegular() {
			return document + end
		}
	}
	return ""
}

// describes returns the name of the document of a metadata file.
func describes(name string) (document string, ok bool) {
	for _, end := range MetadataEnds() {
		if document, ok = strings.CutSuffix(name, end); ok && document != "" {
			return document, true
		}
	}
	return "", false
}

// Described returns the document that a metadata file belongs to, by its name, and all other
// names as they are.
func Described(name string) string {
	if document, ok := describes(name); ok {
		return document
	}
	return name
}

// sidecar reads the metadata file of a document. It has precedence over the metadata in the
// document.
func (d *draft) sidecar(document string) (content []byte) {
	name := sidecarOf(document)
	if name == "" {
		return nil
	}
	data, err := read(name, maxFrontMatter)
	if err != nil {
		d.Notes = append(d.Notes, fmt.Sprintf("its metadata: %v", reason(err)))
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
	d.URL = address(d.Meta)
	return data
}
