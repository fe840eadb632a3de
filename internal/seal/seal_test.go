package seal_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"example.com/ragflow/internal/seal"
)

func keys(current string) seal.Keys {
	return seal.Keys{Current: current, Key: func(id string) ([]byte, error) {
		switch id {
		case "old", "new":
			return bytes.Repeat([]byte(id[:1]), seal.KeyBytes), nil
		case "short":
			return []byte("x"), nil
		}
		return nil, errors.New("there is no such key")
	}}
}

func TestOpen(t *testing.T) {
	sealed, err := seal.New(keys("old")).Seal("place", []byte("a secret"))
	if err != nil || bytes.Contains(sealed, []byte("secret")) || !bytes.HasPrefix(sealed, seal.Prefix("old")) {
		t.Fatalf("Seal: %q, %v", sealed, err)
	}
	s := seal.New(keys("new")) // a former key opens
	if got, err := s.Open("place", sealed); err != nil || string(got) != "a secret" {
		t.Errorf("Open: %q, %v", got, err)
	}
	for i := range sealed {
		changed := slices.Clone(sealed)
		changed[i] ^= 1
		if got, err := s.Open("place", changed); err == nil {
			t.Errorf("byte %d changed: %q", i, got)
		}
		if got, err := s.Open("place", sealed[:i]); err == nil {
			t.Errorf("cut to %d bytes: %q", i, got)
		}
	}
	if got, err := s.Open("elsewhere", sealed); err == nil {
		t.Errorf("at another place: %q", got)
	}
}

func TestKeys(t *testing.T) {
	for _, id := range []string{"short", "missing"} {
		s := seal.New(keys(id))
		if _, err := s.Seal("place", nil); err == nil || s.Check(id) == nil {
			t.Errorf("key %q: Seal: %v, Check: %v", id, err, s.Check(id))
		}
	}
	if err := seal.New(seal.Keys{Current: "old"}).Check("old"); err == nil {
		t.Error("no keys: no error")
	}
}
