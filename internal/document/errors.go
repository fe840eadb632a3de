package document

import "errors"

// Reasons why a file is no document, to be matched with errors.Is.
var (
	ErrNoLoader  = errors.New("no loader for this kind of file")
	ErrTooLarge  = errors.New("file too large")
	ErrBroken    = errors.New("the file is damaged")
	ErrEncrypted = errors.New("the file is encrypted")
	ErrNoText    = errors.New("no text in it")
)
