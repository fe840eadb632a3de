package eval

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
)

// DatasetError tells all that is wrong with a file.
type DatasetError struct {
	Faults []Fault // in the order of the file, never empty
}

// Fault is one thing that is wrong with a file.
type Fault struct {
	Line int    // from 1
	What string // what is wrong, and what is expected
}

func (f Fault) String() string { return fmt.Sprintf("line %d: %s", f.Line, f.What) }

// Error names the first faults, on one line.
func (e *DatasetError) Error() string {
	const most = 5
	var parts []string
	for _, f := range e.Faults[:min(most, len(e.Faults))] {
		parts = append(parts, f.String())
	}
	if more := len(e.Faults) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return "dataset " + strings.Join(parts, "; ")
}

// maxFaults is how many faults of a file are collected.
const maxFaults = 1_000

// faults collects what is wrong with a file.
type faults []Fault

func (f *faults) add(line int, format string, args ...any) {
	if len(*f) < maxFaults {
		*f = append(*f, Fault{line, fmt.Sprintf(format, args...)})
	}
}

func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return &DatasetError{f}
}

// unpacked is r without gzip and without a byte order mark.
func unpacked(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	if head, _ := in.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		plain, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
		in = bufio.NewReaderSize(plain, 1<<16)
	}
	if head, _ := in.Peek(3); bytes.Equal(head, []byte("\ufeff")) {
		_, _ = in.Discard(len(head)) // they were peeked at
	}
	return in, nil
}
