package prompts_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/ragflow/internal/prompts"
)

func folder(file, text string) fstest.MapFS { return fstest.MapFS{file: {Data: []byte(text)}} }

// TestCustomTemplates checks that each built-in file can be read as a custom one, and that a file replaces
// only the definitions it has.
func TestCustomTemplates(t *testing.T) {
	if s, err := prompts.ReadSet(prompts.BuiltIn()); err != nil || !s.Has("merge.en.tmpl") || !s.Has("generate.vi.tmpl") {
		t.Fatal(err)
	}
	s, err := prompts.ReadSet(fstest.MapFS{
		".hidden": {Data: []byte("not read")}, "hyde.en.tmpl": {Data: []byte(`{{define "system"}}Write about {{.Boundary}}.{{end}}`)},
	})
	if err != nil || !s.Has("hyde.en.tmpl") || s.Has("merge.en.tmpl") {
		t.Fatal(err)
	}
	input := prompts.Hypothetical{Question: "What is a volume?", Boundary: boundary}
	built := input.Render()
	input.Custom = s
	if got := input.Render(); got.System != "Write about "+boundary+"." || got.User != built.User {
		t.Errorf("got %+v", got)
	}
}

// TestCustomRules checks that parts of a custom template are added to a custom system prompt.
func TestCustomRules(t *testing.T) {
	s, err := prompts.ReadSet(folder("generate.en.tmpl", `{{define "rules"}}My rules: {{.Refusal}} {{.Boundary}}{{end}}`))
	if err == nil {
		s, err = s.WithSystem("{context}")
	}
	if err != nil {
		t.Fatal(err)
	}
	p := prompts.Generate{Question: "What?", Refusal: "no", Boundary: boundary, CanRefuse: true, Custom: s}
	if got := p.Render("en").System; !strings.HasSuffix(got, "My rules: no "+boundary) {
		t.Errorf("got %q", got)
	}
	if got := p.Render("pl").System; strings.Contains(got, "My rules") {
		t.Errorf("got %q", got)
	}
}

func TestBadTemplates(t *testing.T) {
	generate := func(old, text string) (s string) {
		data, err := fs.ReadFile(prompts.BuiltIn(), "generate.en.tmpl")
		if s = string(data); err != nil || !strings.Contains(s, old) {
			t.Fatalf("the template does not hold %q", old)
		}
		return strings.ReplaceAll(s, old, text)
	}
	for i, tt := range []struct{ file, text, want string }{
		{"gnerate.en.tmpl", "", "gnerate.en.tmpl: invalid prompt: no built-in prompt has this name"},
		{"asked.tmpl", "", "no built-in prompt has this name"},
		{"generate.de.tmpl", "", "no built-in prompt has this name"},
		{"hyde.en.tmpl", `{{define "user"}}{{.Question`, "hyde.en.tmpl:1:"},
		{"hyde.en.tmpl", `{{define "user"}}{{.Query}}{{end}}`, "can't evaluate field Query"},
		{"hyde.en.tmpl", "Write something.", `text outside of {{define "system"}}`},
		{"hyde.en.tmpl", `{{define "user"}}Write something.{{end}}`, "hyde.en.tmpl: invalid prompt: {{.Question}} must be in it"},
		{"hyde.en.tmpl", `{{define "user"}}{{.Question}}{{end}}`, "{{.Question}} must stand between two lines {{.Boundary}}"},
		{"hyde.en.tmpl", strings.Repeat(" ", prompts.MaxFile+1), "at most 65536 bytes"},
		{"generate.en.tmpl", generate("{{.Text}}", ""), "{{.Sources.Text}} must be in it"},
		{"generate.en.tmpl", generate("[Source {{.N}}]", ""), "{{.Sources.N}} must be in it"},
		{"generate.en.tmpl", generate("{{.Summary}}", ""), "{{.Summary}} must be in it"},
		{"generate.en.tmpl", generate("{{range .Sources}}", "{{with index .Sources 0}}"), "index out of range"},
		{"generate.en.tmpl", `{{define "rules"}}{{.Rule}}{{end}}`, "can't evaluate field Rule"},
		{"generate.en.tmpl", generate(" {{.Title}}", ""), ""},
	} {
		t.Run(fmt.Sprint(i, " ", tt.file), func(t *testing.T) {
			_, err := prompts.ReadSet(folder(tt.file, tt.text))
			switch {
			case tt.want == "" && err != nil, tt.want != "" && err == nil:
				t.Errorf("got %v", err)
			case err != nil && (!errors.Is(err, prompts.ErrTemplate) || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}
