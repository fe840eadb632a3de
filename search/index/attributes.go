package index

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/state"
)

// What is known of files stands in a tier value by value, so that a filter reads
// no file's row:
//
//	number of keys; a key, in ascending order: its name, number of values; a
//	  value, in ascending order: its text, number of files, files (each minus the
//	  one before; the first counts from -1)
//
// Numbers are uvarints, strings have their length in front. The keys are those
// of File.Meta in lower case, and where Meta does not have them: title, url, and
// extension, that of the source in lower case without its dot.

// maxAttribute is how many bytes of a value are kept, for long ones are prose
// that nobody filters by.
const maxAttribute = 256

// attributes are the files by key and value, ascending.
type attributes map[string]map[string]*attributeFiles

type attributeFiles struct {
	n    int
	list []byte
	last int // file; -1 before the first
}

// add takes in what is known of a file; meta is the JSON of File.Meta.
func (a attributes) add(file int, source, title, url, meta string) error {
	extension := strings.ToLower(strings.TrimPrefix(path.Ext(source), "."))
	if meta == "" || meta == "null" || meta == "{}" { // as most are
		a.put(file, "title", title)
		a.put(file, "url", url)
		a.put(file, "extension", extension)
		return nil
	}
	var said state.Metadata
	if err := json.Unmarshal([]byte(meta), &said); err != nil {
		return err
	}
	values := said.Strings()
	own := map[string]string{"title": title, "url": url, "extension": extension}
	for key, value := range own {
		values[key] = cmp.Or(strings.TrimSpace(values[key]), value)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) { // "Tags" and "tags" are one
		a.put(file, strings.ToLower(key), values[key])
	}
	return nil
}

func (a attributes) put(file int, key, value string) {
	if value = strings.TrimSpace(value); value == "" {
		return
	}
	if len(value) > maxAttribute {
		end := maxAttribute
		for !utf8.RuneStart(value[end]) {
			end--
		}
		value = value[:end]
	}
	if a[key] == nil {
		a[key] = map[string]*attributeFiles{}
	}
	files := a[key][value]
	if files == nil {
		files = &attributeFiles{last: -1}
		a[key][value] = files
	}
	if files.last == file {
		return
	}
	files.list = binary.AppendUvarint(files.list, uint64(file-files.last))
	files.n++
	files.last = file
}

func (a attributes) encode() []byte {
	out := binary.AppendUvarint(nil, uint64(len(a)))
	for _, key := range slices.Sorted(maps.Keys(a)) {
		out = appendString(out, key)
		out = binary.AppendUvarint(out, uint64(len(a[key])))
		for _, value := range slices.Sorted(maps.Keys(a[key])) {
			files := a[key][value]
			out = appendString(out, value)
			out = binary.AppendUvarint(out, uint64(files.n))
			out = append(out, files.list...)
		}
	}
	return out
}

// attributeValue is a value of a key, with the files that have it.
type attributeValue struct {
	text  string
	items []string // text, and its parts where it is a list: see items
	files []uint32 // ascending
}

// attributes returns what is known of the files of a tier, by key. Values that
// are damaged end it early.
func (t *tier) attributes() map[string][]attributeValue {
	t.attributesOnce.Do(func() {
		t.known = map[string][]attributeValue{}
		r := reader{b: t.about}
		for range r.count() {
			key := string(r.bytes())
			values := make([]attributeValue, r.count())
			for i := range values {
				text := string(r.bytes())
				values[i] = attributeValue{text: text, items: items(text), files: make([]uint32, 0, r.count())}
				at := -1
				for range cap(values[i].files) {
					at += int(r.u32())
					if r.err != nil || uint(at) >= uint(t.files) {
						break
					}
					values[i].files = append(values[i].files, uint32(at)) //nolint:gosec // below the number of files
				}
			}
			t.known[key] = values
		}
	})
	return t.known
}

// items are the values that a text stands for: itself, and its parts where it is
// a list, which loaders join by ", ".
func items(text string) []string {
	if !strings.Contains(text, ", ") {
		return []string{text}
	}
	out := []string{text}
	for item := range strings.SplitSeq(text, ", ") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}
