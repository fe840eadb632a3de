package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"example.com/ragflow/internal/settings"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/providers"
	"example.com/ragflow/state"
)

func (a *app) modelsCommand(g *given) *cobra.Command {
	c := &cobra.Command{
		Use:  "models",
		Args: subcommands,
		RunE: func(c *cobra.Command, _ []string) error { return a.listProviders(c.Context(), g) },
	}
	c.AddCommand(
		a.jsonFlag(command("list PROVIDER", 1, func(c *cobra.Command, args []string) error { return a.listModels(c.Context(), g, args[0]) })),
		a.jsonFlag(command("test [MODEL]", 1, func(c *cobra.Command, args []string) error {
			return a.testModel(c.Context(), g, strings.Join(args, ""))
		})),
		a.jsonFlag(command("prices", 0, func(*cobra.Command, []string) error { return a.listPrices(g) })),
		command("use MODEL", 1, func(_ *cobra.Command, args []string) error { return a.useModel(g, args[0]) }),
		a.modelsPromptsCommand(g),
	)
	return a.jsonFlag(c)
}

// providerReply is one line of "ragflow models".
type providerReply struct {
	Provider string   `json:"provider"`
	BaseURL  string   `json:"base_url"`
	Key      string   `json:"key"`    // variable that holds the key; empty for servers that need none
	Status   string   `json:"status"` // running, no server, key set, no key
	Models   []string `json:"models"`
	About    string   `json:"about"` // its models, or what to do about it
}

// modelsReply is what "ragflow models --json" writes.
type modelsReply struct {
	Configured []string        `json:"configured"`
	Providers  []providerReply `json:"providers"`
}

// localProbe is how long a server on this machine may take to list its models.
const localProbe = time.Second

// noModel is the name with which "ragflow models use" turns models off.
const noModel = "none"

// listProviders shows the known providers. Only addresses on this machine are asked.
func (a *app) listProviders(ctx context.Context, g *given) error {
	s, err := a.readSettings(g)
	if err != nil {
		return err
	}
	reply := modelsReply{s.Models.Describe(), survey(ctx, s)}
	return a.print(reply, func() {
		rows, usable := [][]string{}, ""
		for _, r := range reply.Providers {
			rows = append(rows, []string{r.Provider, r.Status, r.About})
			if usable == "" && len(r.Models) > 0 {
				usable = quoted(r.Provider + ":" + r.Models[0])
			}
		}
		a.table(rows...)
		fmt.Fprintf(a.out, "\n%s\n", strings.Join(reply.Configured, "\n"))
		if usable != "" && s.Models.Smart == "" {
			fmt.Fprintf(a.out, "try one: ragflow models test %[1]s\nuse it:  ragflow models use %[1]s\n", usable)
		}
	})
}

// survey returns what can be had of each known provider. Only addresses on this machine are asked.
func survey(ctx context.Context, s *settings.Settings) []providerReply {
	known := providers.All()
	out := make([]providerReply, len(known))
	var asking sync.WaitGroup
	for i, k := range known {
		c, ok := k.Endpoint(s.Models.Variable)
		r := &out[i]
		*r = providerReply{Provider: k.Name, BaseURL: c.BaseURL, Key: k.KeyName, Status: "no key", Models: []string{}, About: "set " + k.KeyName}
		u, err := llm.CheckBaseURL(c.BaseURL)
		switch {
		case ok && err == nil && llm.Loopback(u):
			asking.Go(func() { r.askLocal(ctx, c) })
		case ok:
			r.Status, r.About = "key set", k.KeyName+" is set; its models: ragflow models list "+k.Name
		}
	}
	asking.Wait()
	return out
}

// askLocal asks a server on this machine for its models.
func (r *providerReply) askLocal(ctx context.Context, c llm.Endpoint) {
	ctx, cancel := context.WithTimeout(ctx, localProbe)
	defer cancel()
	r.Status, r.About = "no server", "at "+c.BaseURL
	client, err := providers.New(c)
	if err != nil {
		return
	}
	defer client.CloseIdle()
	if names, err := client.Models(ctx); err == nil {
		r.Status, r.Models, r.About = "running", append(r.Models, names...), settings.Listed(names)
	}
}

// listModels asks one provider for its models.
func (a *app) listModels(ctx context.Context, g *given, provider string) error {
	s, err := a.readSettings(g)
	if err != nil {
		return err
	}
	if _, ok := providers.Named(provider); !ok {
		return usagef("unknown provider %q", provider).with("there are: " + strings.Join(settings.ProviderNames(), ", "))
	}
	client, err := s.Models.Client(s.Models.ChatAt(provider + ":any"))
	if err != nil {
		return failed("", err)
	}
	defer client.CloseIdle()
	names, err := client.Models(ctx)
	if err != nil {
		return failed("list the models of "+provider, err)
	}
	slices.Sort(names)
	return a.print(append([]string{}, names...), func() {
		for _, n := range names {
			fmt.Fprintln(a.out, line(provider+":"+n))
		}
	})
}

// pricesReply is what "ragflow models prices --json" writes.
type pricesReply struct {
	Date   string       `json:"date"` // of the newest list
	Prices []priceReply `json:"prices"`
}

type priceReply struct {
	Model  string  `json:"model"`
	Input  float64 `json:"input_usd_per_million"`
	Output float64 `json:"output_usd_per_million"`
}

// listPrices shows the known prices, with their date.
func (a *app) listPrices(g *given) error {
	s, err := a.readSettings(g)
	if err != nil {
		return err
	}
	table, err := s.Models.Prices()
	if err != nil {
		return failed("", err)
	}
	reply := pricesReply{table.Date, []priceReply{}}
	rows := [][]string{{"US dollars for a million tokens, " + table.Date, "input", "output"}}
	figure := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	for _, m := range table.Models() {
		p, _ := table.Of(m)
		reply.Prices = append(reply.Prices, priceReply{m, p.Input, p.Output})
		rows = append(rows, []string{m, figure(p.Input), figure(p.Output)})
	}
	return a.print(reply, func() { a.table(rows...) })
}

// trialReply is the outcome of "ragflow models test".
type trialReply struct {
	Model        string  `json:"model"`
	BaseURL      string  `json:"base_url"`
	FirstTokenMS int64   `json:"first_token_ms"`
	TokensPerSec float64 `json:"tokens_per_second"`
	FormKept     bool    `json:"form_kept"`
	GradeRight   float64 `json:"grade_of_the_answering_passage"`
	GradeWrong   float64 `json:"grade_of_another_passage"`
	Grades       string  `json:"grades"` // what the form and the grades mean
	CostUSD      float64 `json:"cost_usd"`
}

// testModel sends a few short requests to a model.
func (a *app) testModel(ctx context.Context, g *given, name string) error {
	s, err := a.readSettings(g)
	if err != nil {
		return err
	}
	if name = cmp.Or(name, s.Models.Smart); name == "" {
		return usagef("no model is configured").with("name one: ragflow models test ollama:llama3.2; ragflow models shows what there is")
	}
	chat, err := s.Models.Chat(name)
	if err != nil {
		return failed("", err)
	}
	r := trialReply{Model: name, BaseURL: s.Models.ChatAt(name).BaseURL}
	a.tell("asking %s for a short text", name)
	out, err := chat.Complete(ctx, llm.Request{
		Messages:  []llm.Message{{Role: llm.User, Content: "Describe the sea in three short sentences."}},
		MaxTokens: 120,
	}, func(string) {})
	if err != nil {
		return failed("test the model", err)
	}
	r.FirstTokenMS, r.CostUSD = out.FirstToken.Milliseconds(), out.CostUSD
	if writing := out.Latency - out.FirstToken; writing > 0 {
		r.TokensPerSec = float64(out.Usage.Output) / writing.Seconds()
	}
	a.tell("asking for two grades")
	var formError error
	grades := [2]float64{}
	for i, passage := range []string{"The library opens at nine and closes at five.", "Tulips are planted in autumn."} {
		g, err := model.NewGrader(chat).Grade(ctx, []state.Query{{Text: "When does the library open?", Weight: 1}}, []state.Source{{Chunk: state.Chunk{Title: "Page", Text: passage}}})
		if err != nil && ctx.Err() != nil {
			return err
		}
		formError, grades[i] = cmp.Or(err, formError), g.Score
	}
	r.FormKept, r.GradeRight, r.GradeWrong = formError == nil, grades[0], grades[1]
	r.Grades = fmt.Sprintf("%.2f for a passage that answers, %.2f for one that does not", r.GradeRight, r.GradeWrong)
	switch {
	case formError != nil:
		r.Grades = fmt.Sprintf("it does not keep to the form; use LLM_GRADER=off or another GRADER_LLM_MODEL (%v)", formError)
	case r.GradeRight < 0.5 || r.GradeWrong >= 0.5:
		r.Grades += ": too weak to grade; use LLM_GRADER=off"
	}
	return a.print(r, func() {
		rows := [][]string{
			{"model", r.Model + " at " + r.BaseURL},
			{"first token", fmt.Sprintf("%.2f s", float64(r.FirstTokenMS)/1000)},
			{"speed", fmt.Sprintf("%.1f tokens a second", r.TokensPerSec)},
			{"grades", r.Grades},
		}
		cost := "not known: set the price with LLM_PRICES"
		if out.Priced {
			cost = fmt.Sprintf("%.6f US dollars for the short text", r.CostUSD)
		}
		rows = append(rows, []string{"cost", cost})
		a.table(rows...)
	})
}

// useModel writes a model into the configuration file.
func (a *app) useModel(g *given, name string) error {
	s, err := a.readSettings(g)
	if err != nil {
		return err
	}
	if name == noModel {
		name = ""
	}
	path, err := s.UseModel(name)
	if err != nil {
		return failed("", err)
	}
	a.tell("%s now says smart_llm_model: %s", path, cmp.Or(name, `""`))
	if v := a.env["SMART_LLM_MODEL"]; v != "" && v != name {
		a.warn("SMART_LLM_MODEL=" + v + " is set in the environment and counts first")
	}
	return nil
}
