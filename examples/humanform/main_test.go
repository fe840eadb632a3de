package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	s, err := run(t.Context(), strings.NewReader(`{"city":"Brno","class":"first","seats":0} {"city":"Brno","class":"first","seats":2}`), &out)
	if err != nil || s != "booked 2 seats to Brno, first class" || !strings.Contains(out.String(), "book at least one seat") {
		t.Errorf("%q %v\n%s", s, err, out.String())
	}
}
