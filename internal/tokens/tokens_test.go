package tokens_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/internal/tokens"
)

func TestAddListRevoke(t *testing.T) {
	t.Parallel()
	f := tokens.In(t.TempDir())
	if list, err := f.List(); err != nil || list != nil {
		t.Fatalf("no folder: %v, %v", list, err)
	}
	secret, err := f.Add(tokens.Token{Name: "anna", Owner: "anna", Scopes: []tokens.Scope{tokens.Ask}})
	if err != nil {
		t.Fatal(err)
	}
	list, err := f.List()
	if err != nil || len(list) != 1 || list[0].Name != "anna" || list[0].Hash != tokens.Hash(secret) {
		t.Fatalf("%+v, %v", list, err)
	}
	stored, err := os.ReadFile(filepath.Join(string(f), "anna.json"))
	if err != nil || strings.Contains(string(stored), secret) {
		t.Errorf("the secret is stored: %s, %v", stored, err)
	}
	if _, err := f.Add(tokens.Token{Name: "anna"}); !errors.Is(err, tokens.ErrExists) {
		t.Errorf("twice: %v", err)
	}
	if again, _ := f.List(); again[0].Hash != list[0].Hash {
		t.Error("the refused token replaced the first one")
	}
	if err := f.Revoke("anna"); err != nil {
		t.Error(err)
	}
	if err := f.Revoke("anna"); !errors.Is(err, tokens.ErrUnknown) {
		t.Errorf("revoked twice: %v", err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	f := tokens.Folder(t.TempDir())
	for _, name := range []string{"", "../x", "A", "a/b", "-a", strings.Repeat("a", 65), "a\x00"} {
		if _, err := f.Add(tokens.Token{Name: name}); !errors.Is(err, tokens.ErrName) {
			t.Errorf("%q: %v", name, err)
		}
		if err := f.Revoke(name); !errors.Is(err, tokens.ErrName) {
			t.Errorf("revoke %q: %v", name, err)
		}
	}
}

// TestDamagedFile is one that gives nobody access and hides no other token.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	f := tokens.Folder(t.TempDir())
	if _, err := f.Add(tokens.Token{Name: "good"}); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"empty": "", "half": `{"owner":`, "bare": "{}"} {
		if err := os.WriteFile(filepath.Join(string(f), name+".json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := f.List()
	if len(list) != 1 || list[0].Name != "good" || err == nil || strings.Count(err.Error(), "is no token") != 3 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestRights(t *testing.T) {
	t.Parallel()
	now := time.Now()
	admin, reader := tokens.Token{Scopes: []tokens.Scope{tokens.Admin}}, tokens.Token{Scopes: []tokens.Scope{tokens.Read}, Collections: []string{"law"}, Expires: &now}
	if !admin.May(tokens.Upload) || admin.May(tokens.Speak) || !admin.Uses("law") || admin.Expired(now) {
		t.Error("admin")
	}
	if reader.May(tokens.Ask) || !reader.May(tokens.Read) || reader.Uses("") || !reader.Uses("law") || !reader.Expired(now) || reader.Expired(now.Add(-1)) {
		t.Error("reader")
	}
}
