// Package prompts holds the prompts that a program may replace: the built-in templates, and sets of them with
// custom templates or a custom system prompt.
//
//	set, err := prompts.ReadSet(os.DirFS("my-prompts"))
//
// [BuiltIn] has the files to begin with: NAME.LANGUAGE.tmpl defines the templates "system" and "user". The fields
// that a built-in template shows must stand in the custom one, and text of people and documents must stay between
// two boundary lines, which declare it as data.
package prompts

import (
	"io/fs"

	"example.com/ragflow/internal/prompts"
)

// Set is a set of prompts: the built-in ones, with custom ones in their place. The zero value is the built-in
// set. A Set is safe for concurrent use. Its WithSystem sets the system prompt for answers.
type Set = prompts.Set

// Errors of prompts; match them with errors.Is.
var (
	ErrTemplate = prompts.ErrTemplate // of a file that cannot replace a built-in template
	ErrSystem   = prompts.ErrSystem   // of a text that cannot be a system prompt
)

// BuiltIn returns the files of the built-in templates.
func BuiltIn() fs.FS { return prompts.BuiltIn() }

// ReadSet reads a folder of templates. A file replaces the built-in template of the same name; definitions
// that it lacks stay built in. Files whose names begin with a dot are ignored. The error of a file names it
// and matches [ErrTemplate].
func ReadSet(folder fs.FS) (Set, error) { return prompts.ReadSet(folder) }
