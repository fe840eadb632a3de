package prompts_test

import (
	"errors"
	"testing"
	"testing/fstest"

	"example.com/ragflow/prompts"
)

// The built-in files can be read again as custom ones, and a file that loses the question is refused.
func TestReadSet(t *testing.T) {
	t.Parallel()
	set, err := prompts.ReadSet(prompts.BuiltIn())
	if err != nil || !set.Has("generate.en.tmpl") {
		t.Errorf("the built-in prompts as a set: %v, has generate.en.tmpl: %v", err, set.Has("generate.en.tmpl"))
	}
	if _, err := set.WithSystem("no place for sources"); !errors.Is(err, prompts.ErrSystem) {
		t.Errorf("got %v, want %v", err, prompts.ErrSystem)
	}
	folder := fstest.MapFS{"generate.en.tmpl": {Data: []byte(`{{define "user"}}Hello{{end}}`)}}
	if _, err := prompts.ReadSet(folder); !errors.Is(err, prompts.ErrTemplate) {
		t.Errorf("got %v, want %v", err, prompts.ErrTemplate)
	}
}
