package redact_test

import (
	"strings"
	"testing"

	"example.com/ragflow/internal/redact"
)

func TestSecrets(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"named with a colon", "password: hunter2, user: bob", "password: •••, user: bob"},
		{"named with an equals sign", "set API_KEY=abc123def and go", "set API_KEY=••• and go"},
		{"named in a sentence", "my password is hunter2.", "my password is •••"},
		{"a sentence about one", "the password is long enough", "the password is long enough"},
		{"a question about one", "What is a token?", "What is a token?"},
		{"environment", "GITHUB_TOKEN=swordfish", "GITHUB_TOKEN=•••"},
		{"Polish", "hasło: tajne123", "hasło: •••"},
		{"Vietnamese", "mật khẩu là abc123", "mật khẩu là •••"},
		{"of a provider", "use sk-proj1234567890abcdef please", "use ••• please"},
		{"of a forge", "ghp_" + strings.Repeat("a1B2", 9), "•••"},
		{"web token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3.abc-def", "•••"},
		{"header", "Authorization: Bearer abcdefghijklmnopqrstuvwxyz", "Authorization: Bearer •••"},
		{"in a URL", "postgres://bob:pa55@db:5432/x", "postgres://bob:•••@db:5432/x"},
		{"private key", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nend", "•••\nend"},
		{"private key cut short", "x -----BEGIN PRIVATE KEY-----\nMIIE", "x •••"},
		{"random word", "it is 9aF3kL0qZ7xT2mB8vC4wE6rY1u", "it is •••"},
		{"an ordinary word", "docker-compose.override.production.yaml internationalization", "docker-compose.override.production.yaml internationalization"},
		{"a path", "/var/lib/docker/volumes/my-vol/_data20241122", "/var/lib/docker/volumes/my-vol/_data20241122"},
		{"nothing", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := redact.Secrets(tt.in)
			if got != tt.want {
				t.Errorf("Redact(%q) = %q, want %q", tt.in, got, tt.want)
			}
			if again := redact.Secrets(got); again != got {
				t.Errorf("redacted twice: %q, want %q", again, got)
			}
		})
	}
}
