package index

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"example.com/ragflow/internal/sqlite"
)

// A snapshot is an index in one file:
//
//	a line    "ragflow index snapshot 1 SIZE": format, bytes of the database
//	gzip      the database
//	32 bytes  SHA-256 of the database
//
// Segments are left out: they are made again.

const (
	snapshotLine   = "ragflow index snapshot "
	snapshotFormat = 1
)

// SnapshotError tells why a file cannot be restored.
type SnapshotError struct{ Why string }

func (e *SnapshotError) Error() string { return e.Why }

// Snapshot writes the index, as it is at one moment, to out; writers may go on
// meanwhile. It needs as much room beside the database as that takes. It returns
// what it wrote. An index in memory has no snapshots.
func (db *DB) Snapshot(ctx context.Context, out io.Writer) ([]Collection, error) {
	name, err := db.scratch()
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	defer removeDatabase(name)
	if err := db.sql.CopyTo(ctx, name); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	if err := writeSnapshot(ctx, out, name); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	copied, err := db.openCopy(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	held, err := copied.Collections(ctx)
	return held, errors.Join(err, copied.Close())
}

// scratch makes an empty file beside the database.
func (db *DB) scratch() (name string, err error) {
	if db.folder == "" {
		return "", errors.New("the index is in memory only")
	}
	f, err := os.CreateTemp(filepath.Dir(db.folder), "snapshot-*.tmp")
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// removeDatabase removes a database that is not needed any more, as far as that
// can be done.
func removeDatabase(name string) {
	for _, end := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(name + end) // most often only the first is there
	}
	_ = os.RemoveAll(name + ".segments")
}

func writeSnapshot(ctx context.Context, out io.Writer, name string) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%s%d %d\n", snapshotLine, snapshotFormat, info.Size()); err != nil {
		return err
	}
	packed, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(packed, sum), &untilDone{ctx, f}); err != nil {
		return err
	}
	if err := packed.Close(); err != nil {
		return err
	}
	_, err = out.Write(sum.Sum(nil))
	return err
}

// untilDone reads until ctx ends.
type untilDone struct {
	ctx context.Context //nolint:containedctx // lives only as long as one call
	r   io.Reader
}

func (u *untilDone) Read(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.r.Read(p)
}

// readSnapshot writes the database in a snapshot to the file at name. The error
// is a *SnapshotError where in is not a whole snapshot of a known format.
func readSnapshot(ctx context.Context, in io.Reader, name string) error {
	r := bufio.NewReaderSize(&untilDone{ctx, in}, 1<<16)
	size, err := readSnapshotLine(r)
	if err != nil {
		return err
	}
	broken := &SnapshotError{"the snapshot is damaged or cut short: copy it again from where it was made"}
	packed, err := gzip.NewReader(r)
	if err != nil {
		return broken
	}
	packed.Multistream(false)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(packed, size+1))
	closeErr := f.Close()
	if context.Cause(ctx) != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		if _, ok := errors.AsType[*os.PathError](err); ok { // the disk, not the snapshot
			return err
		}
		return broken
	}
	stored := make([]byte, sha256.Size)
	if _, err := io.ReadFull(r, stored); err != nil || n != size || !bytes.Equal(stored, sum.Sum(nil)) {
		return broken
	}
	if _, err := r.ReadByte(); err == nil {
		return broken
	}
	return closeErr
}

// readSnapshotLine reads the first line and returns the bytes of the database.
func readSnapshotLine(r *bufio.Reader) (size int64, err error) {
	head, err := r.Peek(len(snapshotLine))
	if err != nil || string(head) != snapshotLine {
		return 0, &SnapshotError{"this is not a snapshot of an index: \"ragflow index snapshot\" writes them"}
	}
	line, err := r.ReadSlice('\n')
	if err != nil {
		return 0, &SnapshotError{"the snapshot is cut short in its first line"}
	}
	var format int
	if _, err := fmt.Sscanf(strings.TrimPrefix(string(line), snapshotLine), "%d %d\n", &format, &size); err != nil || size < 0 {
		return 0, &SnapshotError{"the snapshot is damaged in its first line"}
	}
	if format != snapshotFormat {
		return 0, &SnapshotError{fmt.Sprintf("the snapshot is of format %d, and this program knows %d: update the program", format, snapshotFormat)}
	}
	return size, nil
}

// openCopy opens a copy of an index.
func (db *DB) openCopy(ctx context.Context, name string) (*DB, error) {
	return Open(ctx, name, Options{Analyzer: db.analyzer, Ranking: &db.ranking})
}

// Restore puts the collections of a snapshot in the place of those of the same
// root, all or none; other collections stay, and other processes may go on. roots
// are the roots here, one for each collection of the snapshot in the order of
// [DB.Collections]; nil keeps those that they have. It returns what it restored.
// A snapshot that is damaged, cut or of a newer version is a [*SnapshotError] or a
// *sqlite.NewerError, and changes nothing.
func (db *DB) Restore(ctx context.Context, in io.Reader, roots []string) (restored []Collection, err error) {
	name, err := db.scratch()
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	defer removeDatabase(name)
	if err := readSnapshot(ctx, in, name); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	from, err := db.openCopy(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	if restored, err = from.Collections(ctx); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	if roots != nil && len(roots) != len(restored) {
		var held []string
		for _, c := range restored {
			held = append(held, c.Root)
		}
		return nil, fmt.Errorf("restore: %w", &SnapshotError{fmt.Sprintf("the snapshot holds %d collections (%s), but %d paths were named for them",
			len(held), strings.Join(held, ", "), len(roots))})
	}
	r := &restoring{}
	if err := from.sql.Read(ctx, func(source *sqlite.Tx) error {
		return db.sql.Write(ctx, func(tx *sqlite.Tx) error {
			*r = restoring{from: source, tx: tx, embedders: map[int64]int64{}}
			for i, c := range restored {
				root := c.Root
				if roots != nil {
					root = roots[i]
				}
				if err := r.collection(c.Root, root); err != nil {
					return fmt.Errorf("%q: %w", root, err)
				}
			}
			return nil
		})
	}); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	for i := range restored {
		if roots != nil {
			restored[i].Root = roots[i]
		}
		restored[i].Generation = 1
		if err := db.Publish(ctx, restored[i].Root, nil); err != nil {
			return restored, err
		}
	}
	return restored, nil
}
