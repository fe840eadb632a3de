package prompts

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
)

// Set is a set of prompts: the built-in ones, with custom ones in their place. The zero value is the built-in
// set. A Set is safe for concurrent use.
type Set struct {
	custom map[string]*template.Template // by file name
	system string                        // of Generate, see [Set.WithSystem]; "": that of the template
}

// MaxFile is the maximum size of a prompt file in bytes.
const MaxFile = 64 << 10

// ErrTemplate is the error of a file that cannot replace a built-in template.
var ErrTemplate = errors.New("invalid prompt")

// ReadSet reads a folder of templates. A file replaces the built-in template of the same name; definitions
// that it lacks stay built in. Files whose names begin with a dot are ignored. The error of a file names it
// and matches [ErrTemplate].
func ReadSet(folder fs.FS) (Set, error) {
	entries, err := fs.ReadDir(folder, ".")
	s := Set{custom: map[string]*template.Template{}}
	for _, e := range entries {
		f := e.Name()
		if strings.HasPrefix(f, ".") {
			continue
		}
		if s.custom[f], err = readCustom(folder, f); err != nil {
			return Set{}, fmt.Errorf("%s: %w: %w", f, ErrTemplate, err)
		}
	}
	return s, err
}

// Has reports whether a custom file replaces the built-in one.
func (s Set) Has(file string) bool { return s.custom[file] != nil }

// readCustom reads and checks a custom template.
func readCustom(folder fs.FS, file string) (*template.Template, error) {
	built := parsed()[file]
	if built == nil {
		return nil, errors.New("no built-in prompt has this name")
	}
	info, err := fs.Stat(folder, file)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > MaxFile) { // reading a pipe could block
		err = fmt.Errorf("it must be a file of at most %d bytes", MaxFile)
	}
	if err != nil {
		return nil, err
	}
	text, err := fs.ReadFile(folder, file)
	if err != nil {
		return nil, err
	}
	custom, err := template.Must(built.Clone()).Parse(string(text))
	if err != nil {
		return nil, err
	}
	if !parse.IsEmptyTree(custom.Root) {
		return nil, errors.New(`it has text outside of {{define "system"}} and {{define "user"}}`)
	}
	name, _, _ := strings.Cut(file, ".")
	input := reflect.New(reflect.TypeOf(inputs[name])).Elem()
	_, err = try(custom, input.Interface())
	places := fill(input, "")
	want, _ := try(built, input.Interface()) // built-in templates have no faults
	got, err2 := try(custom, input.Interface())
	if err := cmp.Or(err, err2); err != nil {
		return nil, err
	}
	var missing []string
	for _, p := range places {
		switch {
		case !strings.Contains(want, p.text) || slices.Contains(optional, p.field[strings.LastIndexByte(p.field, '.')+1:]):
		case !strings.Contains(got, p.text):
			missing = append(missing, "{{"+p.field+"}}")
		case isData(want, p.text) && !isData(got, p.text):
			return nil, fmt.Errorf("{{%s}} must stand between two lines {{.Boundary}}", p.field)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s must be in it", strings.Join(missing, ", "))
	}
	return custom, nil
}

// optional are the fields that a custom prompt may omit.
var optional = []string{"Complete", "Title", "Headings", "Path", "About", "Relevance", "Terms"}

// place is a field of a filled input and its text.
type place struct{ field, text string }

// filledNumber is a number that no template contains.
const filledNumber = 90210

// fill sets the fields of an input to texts that name them, such as {{.Sources.Text}}, and lists them.
func fill(v reflect.Value, field string) (places []place) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("{{" + field + "}}")
		return []place{{field, v.String()}}
	case reflect.Int:
		v.SetInt(filledNumber)
		return []place{{field, strconv.Itoa(filledNumber)}}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return fill(v.Index(0), field)
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "Custom" {
				places = append(places, fill(v.Field(i), field+"."+name)...)
			}
		}
	default: // inputs have no other kinds
	}
	return places
}

// try renders a prompt, and the parts that are added to a custom system prompt.
func try(t *template.Template, input any) (string, error) {
	var b strings.Builder
	for _, part := range []string{"rules", "sources", "summary", "question", "system", "user"} {
		if t.Lookup(part) == nil {
			continue
		}
		if part == "system" {
			b.Reset()
		}
		if err := t.ExecuteTemplate(&b, part, input); err != nil {
			return "", err
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// isData reports whether a text of a filled input is between two boundary lines.
func isData(prompt, text string) bool {
	before, after, _ := strings.Cut(prompt, text)
	lines := func(s string) (n int) {
		for line := range strings.Lines(s) {
			if strings.TrimSpace(line) == "{{.Boundary}}" {
				n++
			}
		}
		return n
	}
	return lines(before)%2 == 1 && lines(after)%2 == 1
}
