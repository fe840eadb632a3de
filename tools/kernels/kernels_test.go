package main

import (
	"os"
	"testing"
)

func TestTheCommittedFileIsWhatTheProgramWrites(t *testing.T) {
	committed, err := os.ReadFile("../" + file)
	if err != nil {
		t.Fatal(err)
	}
	if string(committed) != source() {
		t.Error("run go generate ./meaning")
	}
}
