package eval

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
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

// MaxLine is how long a line of a corpus, of queries, judgements or a run may
// be, in bytes; a longer one is a fault.
const MaxLine = 32 << 20

// eachLine calls f with each line of r that is not blank, numbered from 1,
// without its end and blanks around it; f must not keep it. r may be packed with
// gzip. A line that is too long or not UTF-8 is a fault and ends the reading; f
// adds faults of its own, and the error that it returns ends the reading, too.
func (f *faults) eachLine(r io.Reader, do func(n int, line []byte) error) error {
	in, err := unpacked(r)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 1<<16), MaxLine)
	n := 1
	for ; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if !utf8.Valid(line) {
			f.add(n, "not valid UTF-8; save the file as UTF-8")
			return nil
		}
		if len(line) > 0 {
			if err := do(n, line); err != nil {
				return err
			}
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		f.add(n, "the line is longer than %d MiB; each line holds one entry", MaxLine>>20)
		return nil
	}
	return lines.Err()
}
