package ragflow

import (
	"context"
	"errors"
	"fmt"

	"example.com/ragflow/agent"
	"example.com/ragflow/graph"
	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/longterm"
	"example.com/ragflow/state"
)

// Limits of what an agent remembers.
const (
	maxFact     = 2 << 10 // bytes of a fact
	maxRecalled = 10      // facts that a call finds
)

// memoryTools are the tools by which an agent keeps facts about the owner of its thread, and finds them again.
func (a *Assistant) memoryTools() []agent.Tool {
	facts := a.config.Models.Memory
	if facts == nil {
		return nil
	}
	type fact struct {
		Name string `json:"name" jsonschema:"a short name of the fact, such as units; a fact with the same name is replaced"`
		Fact string `json:"fact" jsonschema:"one sentence; empty to forget the fact"`
	}
	type query struct {
		Query string `json:"query" jsonschema:"words to look for; empty for the newest facts"`
	}
	remember := func(ctx context.Context, f fact) (agent.Result, error) {
		place, err := a.place(ctx)
		switch {
		case err != nil:
			return agent.Result{}, err
		case f.Fact == "":
			return agent.Result{Text: "Forgotten."}, facts.Delete(ctx, place, f.Name)
		case len(f.Fact) > maxFact:
			return agent.Result{}, fmt.Errorf("the fact has %d bytes, at most %d are kept", len(f.Fact), maxFact)
		}
		return agent.Result{Text: "Remembered.", Sources: []state.Source{remembered(f.Name, f.Fact)}}, facts.Put(ctx, place, f.Name, f.Fact)
	}
	recall := func(ctx context.Context, q query) (agent.Result, error) {
		place, err := a.place(ctx)
		if err != nil {
			return agent.Result{}, err
		}
		found, err := facts.Search(ctx, place, longterm.Query{Text: q.Query, Limit: maxRecalled})
		if err == nil && len(found) == 0 && q.Query != "" {
			found, err = facts.Search(ctx, place, longterm.Query{Limit: maxRecalled})
		}
		out := agent.Result{}
		for _, f := range found {
			var text string
			err = errors.Join(err, f.Decode(&text))
			out.Sources = append(out.Sources, remembered(f.Key, text))
		}
		if len(found) == 0 {
			out.Text = "Nothing is remembered."
		}
		return out, err
	}
	return []agent.Tool{agent.Func("remember", prompts.RememberTool, remember), agent.Func("recall", prompts.RecallTool, recall)}
}

// remembered is a fact as a source, so that an answer from it is not taken for unsupported.
func remembered(name, fact string) state.Source { return model.ToolSource("memory", name, fact) }

// place returns where the facts of the thread under way are: those of its owner, which no other owner sees.
func (a *Assistant) place(ctx context.Context) (longterm.Namespace, error) {
	info, err := a.store.Info(ctx, graph.Info(ctx).Thread)
	if err != nil || info.Owner == "" {
		return longterm.Namespace{"me"}, err
	}
	return longterm.Namespace{"owners", info.Owner}, nil
}

// agentTools are the tools of an agent beside the search.
func (a *Assistant) agentTools() []agent.Tool {
	tools := a.memoryTools()
	for _, t := range a.config.Models.Tools {
		tools = append(tools, model.Sourced(t))
	}
	return tools
}
