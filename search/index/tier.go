package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"sync"
)

// A tier is a segment with the roster of its files. Its file is one run of
// bytes; uvarints and strings as in reader.go, fixed numbers little-endian:
//
//	8 bytes   magic, with the version of the format
//	4 bytes   CRC-32C of roster and attributes
//	4 bytes   length of the roster
//	4 bytes   length of the attributes
//	roster    number of files; of each, in the order of the segment: id of its
//	          row, version, bytes its source shares with the one before, the rest
//	          of the source
//	attributes of the files: see attributes.go
//	zeros up to the next multiple of 64
//	segment   see segment.go

const (
	tierMagic = "rftier\x00\x02"
	tierHead  = len(tierMagic) + 12
	tierAlign = 64
)

// tier is the segment of the files of a collection whose versions lie in
// (since, generation], as they were at that generation. It is immutable.
type tier struct {
	*segment

	roster []rostered // by file of the segment
	about  []byte     // attributes of the files
	weight int64      // bytes of the terms it was merged from; known to who built it

	published bool // there is a row of it in the manifest

	attributesOnce sync.Once
	known          map[string][]attributeValue // what about says, made when first needed
}

// rostered names one file of a tier: a row of files, as of one version of it.
type rostered struct {
	id, version int64
	source      string
}

// source returns the source of the file that a chunk is of.
func (t *tier) source(chunk int) string { return t.roster[t.chunkField(chunk, 0)].source }

// encodeTier returns what a tier's file has before the segment.
func encodeTier(t *tier) ([]byte, error) {
	roster := binary.AppendUvarint(make([]byte, 0, 16*len(t.roster)), uint64(len(t.roster)))
	before := ""
	for _, f := range t.roster {
		roster = binary.AppendUvarint(roster, uint64(f.id))      //nolint:gosec // ids of rows are above 0
		roster = binary.AppendUvarint(roster, uint64(f.version)) //nolint:gosec // as generations are
		roster = appendTerm(roster, before, f.source)
		before = f.source
	}
	if max(uint64(len(roster)), uint64(len(t.about))) > math.MaxUint32 {
		return nil, errTooLarge
	}
	out := make([]byte, 0, tierHead+len(roster)+len(t.about)+tierAlign)
	out = append(out, tierMagic...)
	sum := crc32.Update(crc32.Checksum(roster, castagnoli), castagnoli, t.about)
	out = appendU32(out, sum, uint32(len(roster)), uint32(len(t.about)))
	out = append(append(out, roster...), t.about...)
	for len(out)%tierAlign != 0 {
		out = append(out, 0)
	}
	return out, nil
}

// decodeTier checks the bytes of a tier's file, and keeps them.
func decodeTier(data []byte) (*tier, error) {
	if len(data) < tierHead || string(data[:len(tierMagic)]) != tierMagic {
		return nil, fmt.Errorf("%w: not a segment of this version", errDamaged)
	}
	sum, size := binary.LittleEndian.Uint32(data[len(tierMagic):]), uint64(binary.LittleEndian.Uint32(data[len(tierMagic)+4:]))
	about := uint64(binary.LittleEndian.Uint32(data[len(tierMagic)+8:]))
	if size+about > uint64(len(data)-tierHead) {
		return nil, fmt.Errorf("%w: cut short", errDamaged)
	}
	end := tierHead + int(size+about) //nolint:gosec // within data
	roster := data[tierHead : end-int(about)]
	if crc32.Checksum(data[tierHead:end], castagnoli) != sum {
		return nil, fmt.Errorf("%w: wrong checksum", errDamaged)
	}
	start := (end + tierAlign - 1) / tierAlign * tierAlign
	if start > len(data) {
		return nil, fmt.Errorf("%w: cut short", errDamaged)
	}
	for _, b := range data[end:start] {
		if b != 0 {
			return nil, fmt.Errorf("%w: it has bytes where there are none", errDamaged)
		}
	}
	s, err := openSegment(data[start:])
	if err != nil {
		return nil, err
	}
	t := &tier{segment: s, about: data[end-int(about) : end]}
	if t.roster, err = decodeRoster(roster); err != nil || len(t.roster) != s.files {
		return nil, fmt.Errorf("%w: its roster does not fit", errDamaged)
	}
	return t, nil
}

func decodeRoster(b []byte) ([]rostered, error) {
	r := reader{b: b}
	out := make([]rostered, r.count())
	var source []byte
	for i := range out {
		out[i].id, out[i].version = int64(r.uint()), int64(r.uint()) //nolint:gosec // as they were written
		source = r.term(source)
		out[i].source = string(source)
		if i > 0 && out[i].source <= out[i-1].source {
			r.fail()
		}
	}
	if r.err == nil && len(r.b) > 0 {
		r.fail()
	}
	return out, r.err
}

// name returns the file of a tier.
func (db *DB) name(s stamp) string {
	return filepath.Join(db.folder, fmt.Sprintf("%d-%d-%d.seg", s.collection, s.since+1, s.generation))
}

// load opens the tier in its file. The error matches fs.ErrNotExist where there
// is none, and errDamaged where it cannot be used.
func (db *DB) load(want stamp) (*tier, error) {
	if db.folder == "" {
		return nil, os.ErrNotExist
	}
	data, err := os.ReadFile(db.name(want))
	if err != nil {
		return nil, err
	}
	t, err := decodeTier(data)
	if err != nil {
		return nil, err
	}
	if t.stamp != want {
		return nil, fmt.Errorf("%w: it is of another moment or database", errDamaged)
	}
	t.published = true
	return t, nil
}

// write writes a tier to a temporary file and returns its name, and how many
// bytes it has.
func (db *DB) write(t *tier) (name string, size int64, err error) {
	head, err := encodeTier(t)
	if err != nil {
		return "", 0, err
	}
	if err := os.MkdirAll(db.folder, 0o700); err != nil {
		return "", 0, err
	}
	f, err := os.CreateTemp(db.folder, fmt.Sprintf("%d-*.tmp", t.collection))
	if err != nil {
		return "", 0, err
	}
	for _, data := range [][]byte{head, t.data} {
		if err == nil {
			_, err = f.Write(data)
		}
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", 0, errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), int64(len(head) + len(t.data)), nil
}
