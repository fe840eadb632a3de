// Package ocr recognises the text of pictures with the program tesseract, if the machine has it.
//
//	r, err := ocr.Find("eng+deu", "cache")
//	page, err := r.Read(ctx, picture)
//
// The program is found on PATH. It gets a picture on its standard input, a language and an
// empty environment, and its reply is limited in size and time.
package ocr

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"example.com/ragflow/internal/newfile"
)

// Errors to match with errors.Is.
var (
	ErrMissing = errors.New("tesseract is not installed, or not on PATH")
	ErrFailed  = errors.New("tesseract failed") // such as for want of a language
)

const (
	maxTime    = 60 * time.Second // for one picture
	maxReply   = 8 << 20          // bytes of a reply
	atOnce     = 2                // programs that run at one time
	confidence = 40               // in percent; less certain words are dropped
	version    = "1"              // of what is cached
)

// Reader recognises text. It is safe for concurrent use.
type Reader struct {
	program, languages, cache string
	maxTime                   time.Duration
	slots                     chan struct{}
}

// Line is a line of recognised text. Left and Right are in pixels of the picture.
type Line struct {
	Text        string
	Left, Right int
	Begins      bool // it is the first line of a paragraph
}

var languageNames = regexp.MustCompile(`^[A-Za-z][A-Za-z_]{1,30}(\+[A-Za-z][A-Za-z_]{1,30}){0,9}$`)

// CheckLanguages reports whether languages are named as tesseract names them: "eng+deu".
func CheckLanguages(languages string) bool { return languageNames.MatchString(languages) }

// Find returns a reader of pictures in some languages, such as "eng+deu". The text of
// each picture is kept in the folder cache, which is made when it is needed; empty: nowhere. The
// error matches ErrMissing.
func Find(languages, cache string) (*Reader, error) {
	if !CheckLanguages(languages) {
		return nil, fmt.Errorf("the languages %q are not named as in eng+deu", languages)
	}
	program, err := exec.LookPath("tesseract")
	if err != nil {
		return nil, ErrMissing
	}
	return &Reader{program: program, languages: languages, cache: cache, maxTime: maxTime, slots: make(chan struct{}, atOnce)}, nil
}

// Read returns the lines of a picture with dpi pixels an inch. There are none if nothing was
// recognised. An error is not kept: the picture can be tried again.
func (r *Reader) Read(ctx context.Context, picture *image.Gray, dpi int) ([]Line, error) {
	path := r.cached(picture)
	if lines, ok := readCached(path); ok {
		return lines, nil
	}
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	var in bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&in, picture); err != nil {
		return nil, err
	}
	reply, err := r.run(ctx, &in, dpi)
	if err != nil {
		return nil, err
	}
	lines, err := parse(reply)
	if err == nil && path != "" {
		err = keep(path, lines)
	}
	return lines, err
}

// run calls the program. All processes that it started end with it.
func (r *Reader) run(ctx context.Context, in *bytes.Buffer, dpi int) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.maxTime, fmt.Errorf("tesseract took longer than %v", r.maxTime))
	defer cancel()
	out, trouble := &limited{most: maxReply, full: cancel}, &limited{most: 4 << 10, full: func() {}}
	command := exec.CommandContext(ctx, r.program, "stdin", "stdout", "-l", r.languages, "--dpi", strconv.Itoa(dpi), "tsv") //nolint:gosec // the program the person has installed, with checked languages
	command.Env = []string{"OMP_THREAD_LIMIT=1"}
	command.Stdin, command.Stdout, command.Stderr = in, out, trouble
	command.WaitDelay = time.Second
	inGroup(command)
	err := command.Run()
	switch {
	case out.over:
		return nil, fmt.Errorf("tesseract wrote more than %d MB", maxReply>>20)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		first, _, _ := strings.Cut(strings.TrimSpace(trouble.kept.String()), "\n")
		return nil, fmt.Errorf("%w: %s", ErrFailed, printable(cmp.Or(first, err.Error())))
	}
	return out.kept.Bytes(), nil
}

// limited keeps the first bytes that are written to it.
type limited struct {
	kept bytes.Buffer // not embedded: io.Copy would read into it without a limit
	most int
	over bool
	full func() // called when there are more
}

func (l *limited) Write(p []byte) (int, error) {
	n := len(p)
	if room := l.most - l.kept.Len(); n > room {
		l.over, p = true, p[:room]
		l.full()
	}
	_, _ = l.kept.Write(p) // never fails
	return n, nil
}

// parse reads the table that tesseract writes: a row for each word, with its place and the
// confidence in it.
func parse(table []byte) ([]Line, error) {
	const level, block, paragraph, line, left, width, certain, word, columns = 0, 2, 3, 4, 6, 8, 10, 11, 12
	rows := strings.Split(strings.ToValidUTF8(string(table), ""), "\n")
	if !strings.HasPrefix(rows[0], "level\t") {
		return nil, errors.New("tesseract wrote no table")
	}
	lines := []Line{}
	var inLine, inParagraph string // of the last word
	for _, row := range rows[1:] {
		f := strings.Split(strings.TrimSuffix(row, "\r"), "\t")
		if len(f) != columns || f[level] != "5" {
			continue
		}
		sure, err := strconv.ParseFloat(f[certain], 64)
		text := printable(f[word])
		if err != nil || sure < confidence || text == "" {
			continue
		}
		from, _ := strconv.Atoi(f[left]) // 0 if the program wrote nonsense
		wide, _ := strconv.Atoi(f[width])
		p := f[block] + " " + f[paragraph]
		if l := p + " " + f[line]; l != inLine {
			lines = append(lines, Line{Text: text, Left: from, Right: from + wide, Begins: p != inParagraph})
			inLine, inParagraph = l, p
			continue
		}
		last := &lines[len(lines)-1]
		last.Text, last.Right = last.Text+" "+text, from+wide
	}
	return lines, nil
}

// printable removes control characters and outer space.
func printable(s string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if strconv.IsPrint(c) {
			return c
		}
		return -1
	}, s))
}

// cached returns the path of the text of a picture; "" without a cache.
func (r *Reader) cached(picture *image.Gray) string {
	if r.cache == "" {
		return ""
	}
	h := sha256.New()
	fmt.Fprintln(h, version, r.languages, picture.Rect, picture.Stride)
	_, _ = h.Write(picture.Pix) // never fails
	return filepath.Join(r.cache, hex.EncodeToString(h.Sum(nil))+".json")
}

func readCached(path string) (lines []Line, ok bool) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxReply {
		return nil, false
	}
	data, err := os.ReadFile(path)
	return lines, err == nil && json.Unmarshal(data, &lines) == nil
}

func keep(path string, lines []Line) error {
	data, err := json.Marshal(lines)
	if err != nil {
		return err
	}
	return newfile.WriteBytes(path, data)
}
