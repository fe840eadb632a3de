package meaning

import (
	"fmt"
	"testing"
)

func BenchmarkPassage(b *testing.B) {
	n, err := loadNetwork(weightsFile)
	if err != nil {
		b.Fatal(err)
	}
	for _, k := range kernels() {
		for _, tokens := range []int{32, 64, 160, 512} {
			b.Run(fmt.Sprintf("%s/%d", k.name, tokens), func(b *testing.B) {
				m := newMachine(n, k)
				ids := make([]int32, tokens)
				for i := range ids {
					ids[i] = int32(i * 97 % n.words)
				}
				for b.Loop() {
					if _, err := m.embed(b.Context(), ids); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
