package meaning

import (
	"runtime"
	"strings"
	"testing"

	"example.com/ragflow/llm"
)

// TestMemory checks what a model keeps beside the weights, which are used in place.
func TestMemory(t *testing.T) {
	if !Fast() {
		t.Skip("takes a minute")
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	model, err := open(weightsFile, piecesFile, fastest())
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 200)
	if _, err := model.Embed(t.Context(), []string{long, long, long}, llm.Passage); err != nil {
		t.Fatal(err)
	}
	if _, err := model.Rerank(t.Context(), "Who jumps?", []string{long, long, long}); err != nil {
		t.Fatal(err)
	}
	grown := (heap() - before) >> 20
	runtime.KeepAlive(model)
	t.Logf("%d MB", grown)
	if grown > 40 {
		t.Errorf("%d MB beside the weights, want at most 40", grown)
	}
}
