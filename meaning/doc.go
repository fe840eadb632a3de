// Package meaning runs a small transformer, which is part of the binary, to find and to judge passages: whether a
// passage is about a question, and whether it answers it. scripts/reader trains it.
package meaning
