package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	first, second, err := run(t.Context(), &out)
	if err != nil || first.Booked != "a room in the Anchor" || second.Booked != "a room in the Bell" || strings.Count(out.String(), "\n") != 4 {
		t.Errorf("%+v %+v %v\n%s", first, second, err, out.String())
	}
}
