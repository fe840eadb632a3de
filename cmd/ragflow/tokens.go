package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/tokens"
)

// tokenReply is one token in "ragflow tokens list --json", and what "ragflow tokens add --json" made.
type tokenReply struct {
	Name        string         `json:"name"`
	Owner       string         `json:"owner"`
	Scopes      []tokens.Scope `json:"scopes"`
	Collections []string       `json:"collections"` // empty: all
	Created     time.Time      `json:"created"`
	Expires     *time.Time     `json:"expires"` // null: never
	Expired     bool           `json:"expired"`
	Secret      string         `json:"secret,omitempty"` // of a new token
}

func newTokenReply(t tokens.Token) tokenReply {
	return tokenReply{
		Name: t.Name, Owner: t.Owner, Scopes: t.Scopes, Collections: append([]string{}, t.Collections...),
		Created: t.Created, Expires: t.Expires, Expired: t.Expired(time.Now()),
	}
}

func (a *app) tokensCommand(g *given) *cobra.Command {
	return group("tokens", a.tokensAddCommand(g), a.tokensListCommand(g), a.tokensRevokeCommand(g))
}

// tokenFolder returns the folder of the tokens of the data folder, which is made if it is missing.
func (a *app) tokenFolder(g *given) (tokens.Folder, error) {
	s, err := a.load(a.input(g))
	if err == nil {
		err = a.makeData(s)
	}
	if err != nil {
		return "", err
	}
	return tokens.In(s.Config.DataDir), nil
}

func (a *app) tokensAddCommand(g *given) *cobra.Command {
	var t tokens.Token
	var scopes []string
	var lasts age
	c := command("add NAME", 1, func(_ *cobra.Command, args []string) error {
		t.Name, t.Created = args[0], time.Now().UTC().Truncate(time.Second)
		for _, s := range scopes {
			if !slices.Contains(tokens.Scopes(), tokens.Scope(s)) {
				return usagef("--scope %q is none of %s", s, strings.Trim(fmt.Sprint(tokens.Scopes()), "[]"))
			}
			t.Scopes = append(t.Scopes, tokens.Scope(s))
		}
		if t.Owner == "" {
			t.Owner = t.Name
		}
		if lasts > 0 {
			end := t.Created.Add(time.Duration(lasts))
			t.Expires = &end
		}
		return a.addToken(g, t)
	})
	f := c.Flags()
	f.StringVar(&t.Owner, "owner", "", "whose threads the client sees and begins, a `NAME` (default: that of the token)")
	f.StringSliceVar(&scopes, "scope", []string{string(tokens.Ask), string(tokens.Read)}, "what the client may do: `ask`, read, upload, admin, speak; may be repeated")
	f.StringSliceVar(&t.Collections, "collection", nil, "only these collections, by `NAME`; may be repeated (default: all)")
	f.Var(&lasts, "expires", "the token ends after this `TIME`, such as 30d or 12h (default: never)")
	return a.jsonFlag(c)
}

func (a *app) addToken(g *given, t tokens.Token) error {
	folder, err := a.tokenFolder(g)
	if err != nil {
		return err
	}
	collections, err := ingest.Collections(filepath.Dir(string(folder)))
	if err != nil {
		return failed("", err)
	}
	for _, name := range t.Collections {
		if err := ingest.CheckCollection(name); err != nil {
			return failed("", err)
		}
		if !slices.Contains(collections, name) {
			a.warn(fmt.Sprintf("there is no collection %q yet; there are: %s", name, orNone(strings.Join(collections, ", "))))
		}
	}
	secret, err := folder.Add(t)
	if errors.Is(err, tokens.ErrExists) {
		return &failure{code: exitFailure, err: err, hint: "choose another name, or take the old one back first: ragflow tokens revoke " + t.Name}
	} else if err != nil {
		return failed("", err)
	}
	reply := newTokenReply(t)
	reply.Secret = secret
	return a.print(reply, func() {
		a.tell("the secret of %s is shown only now:", t.Name)
		fmt.Fprintln(a.out, secret)
	})
}

func (a *app) tokensListCommand(g *given) *cobra.Command {
	return a.jsonFlag(command("list", 0, func(*cobra.Command, []string) error {
		folder, err := a.tokenFolder(g)
		if err != nil {
			return err
		}
		list, err := folder.List()
		if err != nil {
			a.warn(err.Error())
		}
		replies := []tokenReply{}
		for _, t := range list {
			replies = append(replies, newTokenReply(t))
		}
		return a.print(map[string]any{"tokens": replies}, func() { a.tokenTable(replies) })
	}))
}

func (a *app) tokenTable(list []tokenReply) {
	if len(list) == 0 {
		a.tell("no tokens yet; make one: ragflow tokens add NAME")
		return
	}
	rows := [][]string{{"NAME", "OWNER", "SCOPES", "COLLECTIONS", "CREATED (UTC)", "EXPIRES (UTC)"}}
	for _, t := range list {
		collections, expires := "all", "never"
		if len(t.Collections) > 0 {
			collections = strings.Join(t.Collections, ",")
		}
		if t.Expires != nil {
			expires = t.Expires.Format("2006-01-02 15:04")
		}
		if t.Expired {
			expires += " (has ended)"
		}
		scopes := strings.ReplaceAll(strings.Trim(fmt.Sprint(t.Scopes), "[]"), " ", ",")
		rows = append(rows, []string{t.Name, t.Owner, scopes, collections, t.Created.Format("2006-01-02 15:04"), expires})
	}
	a.table(rows...)
}

func (a *app) tokensRevokeCommand(g *given) *cobra.Command {
	return command("revoke NAME", 1, func(_ *cobra.Command, args []string) error {
		folder, err := a.tokenFolder(g)
		if err != nil {
			return err
		}
		if err := folder.Revoke(args[0]); err != nil {
			return failed("", err)
		}
		a.tell("revoked %s; a server that runs refuses it within a second", args[0])
		return nil
	})
}
