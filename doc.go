// Package ragflow answers questions from a person's own documents, in
// conversations that last.
package ragflow
