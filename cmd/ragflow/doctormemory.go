package main

import (
	"fmt"
	"io/fs"
	"strings"
)

// Memory of a search of the embedded index, as bench/search measures it.
const (
	passageMemory = 1600 // bytes of a passage
	vectorMemory  = 3000 // bytes of a vector of 384 dimensions
)

// checkMemory gives a hint if the index takes more memory than is free.
func (d *doctor) checkMemory(passages, vectors int, system fs.FS) {
	need := int64(passages)*passageMemory + int64(vectors)*vectorMemory
	if free, known := freeMemory(system); known && need > free {
		d.hint("a search of the index takes some %s of memory, and %s are free: RETRIEVAL_ALPHA=0 leaves the vectors out, and Weaviate or PostgreSQL holds a larger index (docs/scaling.md)",
			byteSize(need), byteSize(free))
	}
}

// freeMemory is the memory that a new process may have, on Linux and in a container there.
func freeMemory(system fs.FS) (free int64, known bool) {
	number := func(file, after string) (n int64, ok bool) {
		text, _ := fs.ReadFile(system, file)
		_, rest, _ := strings.Cut(string(text), after)
		_, err := fmt.Sscan(rest, &n)
		return n, err == nil
	}
	free, known = number("proc/meminfo", "MemAvailable:")
	free <<= 10 // they are kB
	if limit, ok := number("sys/fs/cgroup/memory.max", ""); ok {
		free = min(free, limit)
	}
	return free, known
}
