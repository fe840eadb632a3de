package meaning

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// piecesFile is the vocabulary. scripts/reader/pieces.py writes it and says what it holds.
//
//go:embed pieces.bin
var piecesFile []byte

// maxText is how many bytes of a text are cut into pieces. The model reads 512 pieces, which have some 2,000 bytes.
const maxText = 64 << 10

// unknownPenalty is how much less likely than the rarest piece a letter is that no piece has, as in SentencePiece.
const unknownPenalty = 10

// A tokenizer cuts text into the pieces of a vocabulary with the Unigram model of SentencePiece: of all ways to cut a
// word it takes the one whose pieces are the most likely together. It gives the ids that the library tokenizers of
// Hugging Face gives. It may be used by several goroutines at a time.
type tokenizer struct {
	begin, pad, end, unknown int32 // ids of the special tokens, which no text gives

	// The trie of the pieces. A node is a number, and 0 is the root. The children of node n are the nodes from
	// first[n] up to first[n+1].
	labels []byte   // the last byte of a node's text
	first  []uint32 // has one more entry than there are nodes
	piece  []int32  // the id of the piece that ends at a node, or -1

	score        []float64 // the log probability of each piece
	unknownScore float64
}

const (
	piecesMagic  = "PIECES1\n"
	piecesHeader = len(piecesMagic) + 6*4
)

// loadTokenizer reads a vocabulary in the form of pieces.bin. The tokenizer keeps data, which must not change.
func loadTokenizer(data []byte) (*tokenizer, error) {
	if len(data) < piecesHeader || string(data[:len(piecesMagic)]) != piecesMagic {
		return nil, errors.New("load tokenizer: this is no vocabulary")
	}
	var header [6]uint32
	for i := range header {
		header[i] = binary.LittleEndian.Uint32(data[len(piecesMagic)+4*i:])
	}
	pieces, nodes := int(header[0]), int(header[1])
	if want := piecesHeader + 2*nodes + 8*pieces; len(data) != want || nodes == 0 {
		return nil, fmt.Errorf("load tokenizer: the vocabulary has %d bytes, not %d", len(data), want)
	}
	for _, id := range header[2:] {
		if int(id) >= pieces {
			return nil, fmt.Errorf("load tokenizer: there is no piece for special token %d", id)
		}
	}
	t := &tokenizer{begin: int32(header[2]), pad: int32(header[3]), end: int32(header[4]), unknown: int32(header[5])}
	data = data[piecesHeader:]
	if err := t.readTrie(data[:nodes], data[nodes:2*nodes]); err != nil {
		return nil, fmt.Errorf("load tokenizer: %w", err)
	}
	data = data[2*nodes:]
	if err := t.readPieces(data[:4*pieces], data[4*pieces:]); err != nil {
		return nil, fmt.Errorf("load tokenizer: %w", err)
	}
	return t, nil
}

// readTrie takes for each node how many children it has, and its label.
func (t *tokenizer) readTrie(counts, labels []byte) error {
	t.labels = labels
	t.first = make([]uint32, len(counts)+1)
	next := 1
	for node, count := range counts {
		if next <= node {
			return fmt.Errorf("node %d of the trie has no parent", node)
		}
		t.first[node] = uint32(next)
		next += int(count)
		if next > len(counts) {
			return fmt.Errorf("node %d of the trie has a child past its end", node)
		}
	}
	t.first[len(counts)] = uint32(next)
	return nil
}

// readPieces takes for each piece its node, and its log probability.
func (t *tokenizer) readPieces(nodes, scores []byte) error {
	t.piece = make([]int32, len(t.labels))
	for node := range t.piece {
		t.piece[node] = -1
	}
	t.score = make([]float64, len(nodes)/4)
	for id := range t.score {
		node := binary.LittleEndian.Uint32(nodes[4*id:])
		if int(node) >= len(t.piece) {
			return fmt.Errorf("piece %d has node %d of %d", id, node, len(t.piece))
		}
		if node != 0 {
			t.piece[node] = int32(id)
		}
		t.score[id] = float64(math.Float32frombits(binary.LittleEndian.Uint32(scores[4*id:])))
		if math.IsNaN(t.score[id]) || math.IsInf(t.score[id], 0) {
			return fmt.Errorf("piece %d has no probability", id)
		}
	}
	t.unknownScore = slices.Min(t.score) - unknownPenalty
	return nil
}

// encode returns the ids of the pieces of a text, without special tokens. It reads maxText bytes at most.
func (t *tokenizer) encode(text string) []int32 {
	rest := normalize(text)
	ids := make([]int32, 0, len(rest)/3)
	var cuts []cut
	for len(rest) > 0 {
		word := rest
		if next := bytes.IndexByte(rest[1:], ' '); next >= 0 {
			word = rest[:1+next]
		}
		rest = rest[len(word):]
		cuts = t.cutWord(word, cuts)
		ids = t.appendPieces(ids, cuts)
	}
	return ids
}

// normalize returns a text as the vocabulary has it: in NFKC, each word after one space, the first one too. A space
// at the end of the text stays.
func normalize(text string) []byte {
	text = norm.NFKC.String(strings.Map(normalRune, beginning(text)))
	if text == "" {
		return nil
	}
	out := make([]byte, 1, len(text)+1)
	out[0] = ' '
	for i := range len(text) {
		if text[i] != ' ' || out[len(out)-1] != ' ' {
			out = append(out, text[i])
		}
	}
	return out
}

// beginning returns the first maxText bytes of a text, without a part of a rune at the end.
func beginning(text string) string {
	if len(text) <= maxText {
		return text
	}
	end := maxText
	for end > maxText-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// normalRune maps a rune as the vocabulary does before NFKC: separators and marks without width become a space, and
// control characters are left out (-1). Invalid UTF-8 arrives as U+FFFD, which becomes a space too.
func normalRune(r rune) rune {
	switch {
	case r == '\t' || r == '\n' || r == '\f' || r == '\r':
		return ' '
	case r == 0 || r >= ' ' && r < 0x7f:
		return r
	case r < ' ' || r == 0x7f || r == 0x8f || r == 0x9f:
		return -1
	case r == 0x1680 || r >= 0x200b && r <= 0x200f || r == 0x2028 || r == 0x2029 || r == 0x2581 || r == 0xfeff || r == utf8.RuneError:
		return ' '
	}
	return r
}

// A cut is the best way to cut a word up to some place.
type cut struct {
	score float64 // the sum of the log probabilities of the pieces
	piece int32   // the last piece, or -1 if the place is not reached
	start int32   // where it starts
}

// cutWord returns the best cut up to each byte of a word, in the memory of cuts where it is large enough.
func (t *tokenizer) cutWord(word []byte, cuts []cut) []cut {
	cuts = append(cuts[:0], cut{})
	for range word {
		cuts = append(cuts, cut{piece: -1})
	}
	for start := 0; start < len(word); {
		_, size := utf8.DecodeRune(word[start:])
		known := false // whether a piece is this rune alone
		for node, end := uint32(0), start; end < len(word); {
			first := t.first[node]
			child := bytes.IndexByte(t.labels[first:t.first[node+1]], word[end])
			if child < 0 {
				break
			}
			node = first + uint32(child)
			end++
			if id := t.piece[node]; id >= 0 {
				extend(cuts, start, end, id, t.score[id])
				known = known || end == start+size
			}
		}
		if !known {
			extend(cuts, start, start+size, t.unknown, t.unknownScore)
		}
		start += size
	}
	return cuts
}

// extend puts a piece after the best cut up to start, if there is no better cut up to end.
func extend(cuts []cut, start, end int, piece int32, score float64) {
	score += cuts[start].score
	if cuts[end].piece < 0 || score > cuts[end].score {
		cuts[end] = cut{score: score, piece: piece, start: int32(start)}
	}
}

// appendPieces appends the pieces of the best cut of a whole word. Unknown runes side by side give one id.
func (t *tokenizer) appendPieces(ids []int32, cuts []cut) []int32 {
	from := len(ids)
	for end := int32(len(cuts) - 1); end > 0; end = cuts[end].start {
		piece := cuts[end].piece
		if piece != t.unknown || len(ids) == from || ids[len(ids)-1] != t.unknown {
			ids = append(ids, piece)
		}
	}
	slices.Reverse(ids[from:])
	return ids
}
