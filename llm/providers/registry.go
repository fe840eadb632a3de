package providers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"example.com/ragflow/llm"
)

// Errors of a [Registry].
var (
	ErrUnknown = errors.New("unknown provider")
	ErrNone    = errors.New("No LLM providers configured — generation disabled") //nolint:staticcheck // the text is prescribed
)

// Registry holds providers by name. The zero Registry is ready. It must not be changed while it is used.
type Registry struct {
	all       []llm.Provider // in the order of registration
	preferred string
}

// Register adds a provider. It replaces one with the same name.
func (r *Registry) Register(p llm.Provider) {
	if i := r.index(p.Provider()); i >= 0 {
		r.all[i] = p
		return
	}
	r.all = append(r.all, p)
}

func (r *Registry) index(name string) int {
	return slices.IndexFunc(r.all, func(p llm.Provider) bool { return p.Provider() == name })
}

// Get returns the provider of a name. Otherwise the error matches [ErrUnknown] and lists the
// registered names.
func (r *Registry) Get(name string) (llm.Provider, error) {
	if i := r.index(name); i >= 0 {
		return r.all[i], nil
	}
	return nil, fmt.Errorf("%w %q; registered are %q", ErrUnknown, name, r.Names())
}

// SetDefault chooses the provider that [Registry.Default] returns.
func (r *Registry) SetDefault(name string) error {
	_, err := r.Get(name)
	if err == nil {
		r.preferred = name
	}
	return err
}

// Default returns the provider of SetDefault. Without one it returns the first provider
// registered, and chosen is false. If there are no providers, the error is [ErrNone].
func (r *Registry) Default() (p llm.Provider, chosen bool, err error) {
	switch {
	case len(r.all) == 0:
		return nil, false, ErrNone
	case r.preferred == "":
		return r.all[0], false, nil
	}
	p, err = r.Get(r.preferred)
	return p, true, err
}

// Names lists the providers in the order of their registration.
func (r *Registry) Names() []string {
	var names []string
	for _, p := range r.all {
		names = append(names, p.Provider())
	}
	return names
}

// Discover registers the known providers for which get has a key, and the servers without a
// key for which it has an address. It sends no request. The log says of each provider whether
// it was registered.
func Discover(get func(variable string) string, log *slog.Logger) *Registry {
	var r Registry
	note := func(level slog.Level, text string, args ...any) {
		log.Log(context.Background(), level, text, args...) //nolint:sloglint // the texts are prescribed, with the name of a provider in them
	}
	for _, k := range All() {
		e, ok := k.Endpoint(get)
		if !ok || k.KeyName == "" && get(k.URLName) == "" {
			note(slog.LevelInfo, "Skipped LLM provider: "+k.Name+" (no credentials)")
			continue
		}
		p, err := New(e)
		if err != nil {
			note(slog.LevelWarn, "Skipped LLM provider: "+k.Name, "error", err)
			continue
		}
		r.Register(p)
		note(slog.LevelInfo, "Registered LLM provider: "+k.Name)
	}
	return &r
}
