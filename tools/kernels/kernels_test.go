package main

import (
	"os"
	"strings"
	"testing"
)

func TestTheCommittedFilesAreWhatTheProgramWrites(t *testing.T) {
	for name, want := range map[string]string{file: source(), neonFile: neonSource()} {
		committed, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if string(committed) != want {
			t.Errorf("%s is another: run go generate ./meaning", name)
		}
	}
}

// TestBytesOfAVXVNNI compares with what GNU's assembler makes of "{vex} vpdpbusd": not every machine can run it.
func TestBytesOfAVXVNNI(t *testing.T) {
	for _, tt := range []struct {
		right, left, sum int
		want             string
	}{
		{8, 10, 0, "\tLONG $0x502dc2c4; BYTE $0xc0"},
		{9, 11, 7, "\tLONG $0x5025c2c4; BYTE $0xf9"},
		{1, 2, 12, "\tLONG $0x506d62c4; BYTE $0xe1"},
	} {
		a := &assembly{}
		fourBytesVEX(a, "", tt.right, tt.left, tt.sum, 0)
		if got, _, _ := strings.Cut(a.String(), " //"); got != tt.want {
			t.Errorf("%d, %d, %d: got %q, want %q", tt.right, tt.left, tt.sum, got, tt.want)
		}
	}
}
