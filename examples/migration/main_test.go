package main

import (
	"testing"

	"example.com/ragflow/graph/memstore"
)

func TestRun(t *testing.T) {
	store := memstore.New()
	if err := before(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	c, err := after(t.Context(), store)
	if want := (Contact{"Ada", "Lovelace", "Dear Ada of the family Lovelace"}); err != nil || c != want {
		t.Errorf("%+v %v", c, err)
	}
}
