// Package redact takes secrets out of text before it is kept or sent to a model.
package redact
