package text

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pkoukk/tiktoken-go"
)

// published gives the library the vocabulary of this package.
type published struct{}

// LoadTiktokenBpe implements tiktoken.BpeLoader.
func (published) LoadTiktokenBpe(string) (map[string]int, error) {
	out := map[string]int{}
	for token, rank := range ranks() {
		out[token] = int(rank)
	}
	return out, nil
}

// TestVocabulary compares the vocabulary with the hash of what OpenAI publishes: a line for
// each token, in base64, with its rank.
func TestVocabulary(t *testing.T) {
	if testing.Short() {
		t.Skip("many texts; nothing of it runs side by side")
	}
	tokens := make([]string, vocabularySize)
	for token, rank := range ranks() {
		tokens[rank] = token
	}
	hash := sha256.New()
	for rank, token := range tokens {
		fmt.Fprintf(hash, "%s %d\n", base64.StdEncoding.EncodeToString([]byte(token)), rank)
	}
	const want = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		t.Errorf("SHA-256 %s, want %s", got, want)
	}
}

// TestTokensAsLibrary compares the tokens with those of tiktoken-go, on this project's documents
// and on random text of hard parts.
func TestTokensAsLibrary(t *testing.T) {
	if testing.Short() {
		t.Skip("many texts; nothing of it runs side by side")
	}
	tiktoken.SetBpeLoader(published{})
	library, err := tiktoken.GetEncoding(tiktoken.MODEL_O200K_BASE)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			texts = append(texts, line)
		}
	}
	parts := []string{
		" ", "  ", "\t", "\n", "\r\n", "\v", "\u00a0", "\u2028", "\u3000", "a", "The", "ABC", "Abc", "aBC", "don't", "I'LL", "'s", "1", "1234567", "/", "//", "...", "{}",
		"ł", "Żółw", "điều", "e\u0301", "ǅ", "中文", "日本語", "ไทย", "हिन्दी", "العربية", "🐳", "👩‍👩‍👧", "\u200b", "\x00", "_", "-", "<|endoftext|>",
	}
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // always the same
	for range 3000 {
		var b strings.Builder
		for range 1 + r.IntN(9) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		texts = append(texts, b.String())
	}
	for _, s := range texts {
		var want []int
		for _, id := range library.EncodeOrdinary(s) {
			want = append(want, len(library.Decode([]int{id})))
		}
		got := tokens(s)
		if len(got) != len(want) {
			t.Errorf("%q: %v, want %v", s, got, want)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%q: %v, want %v", s, got, want)
				break
			}
		}
	}
}
