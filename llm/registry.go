package llm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Provider is a service that offers chat models.
type Provider interface {
	// Provider returns the name of the service.
	Provider() string
	// Chat returns a chat model without sending a request.
	Chat(model string) Chat
	// Models lists the models. It is a cheap call that also checks address and key.
	Models(ctx context.Context) ([]string, error)
}

// Errors of a [Registry].
var (
	ErrUnknownProvider = errors.New("unknown provider")
	ErrNoProvider      = errors.New("No LLM providers configured — generation disabled") //nolint:staticcheck // the text is prescribed
)

// Registry holds providers by name. The zero Registry is empty and ready. It is safe for
// concurrent use.
type Registry struct {
	mu        sync.Mutex
	providers map[string]Provider
	names     []string // in the order of registration
	preferred string
}

// Register adds a provider. It replaces one with the same name.
func (r *Registry) Register(p Provider) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.providers == nil {
		r.providers = map[string]Provider{}
	}
	if r.providers[p.Provider()] == nil {
		r.names = append(r.names, p.Provider())
	}
	r.providers[p.Provider()] = p
}

// Get returns the provider of a name. Otherwise the error matches [ErrUnknownProvider] and
// lists the names there are.
func (r *Registry) Get(name string) (Provider, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.providers[name]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%w %q; registered are %q", ErrUnknownProvider, name, r.names)
}

// SetDefault chooses the provider that [Registry.Default] returns.
func (r *Registry) SetDefault(name string) error {
	if _, err := r.Get(name); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.preferred = name
	return nil
}

// Default returns the provider of SetDefault. Without one it returns the first provider
// registered, and chosen is false. If there are no providers, the error is [ErrNoProvider].
func (r *Registry) Default() (p Provider, chosen bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case len(r.names) == 0:
		return nil, false, ErrNoProvider
	case r.preferred != "":
		return r.providers[r.preferred], true, nil
	}
	return r.providers[r.names[0]], false, nil
}

// Names lists the providers in the order of their registration.
func (r *Registry) Names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.names)
}
