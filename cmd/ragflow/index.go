package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/cmd/ragflow/config"
	"example.com/ragflow/ingest"
)

func (a *app) indexCommand() *cobra.Command {
	var forget, rebuild, watch bool
	c := command("index [PATH]...", -1, func(c *cobra.Command, args []string) error {
		if forget {
			return a.forget(c.Context(), args)
		}
		a.flags.docs = args
		switch {
		case rebuild && (watch || a.chunkFlagged()):
			return usagef("--rebuild reads no documents, so it goes with --collection and --json only")
		case rebuild:
			return a.reembed(c.Context())
		case watch && a.asJSON:
			return usagef("--watch does not go with --json")
		}
		return a.index(c.Context(), watch)
	})
	f := c.Flags()
	a.jsonFlag(c)
	f.BoolVar(&rebuild, "rebuild", false, "make all vectors again with the embedding model configured now; read no documents")
	f.BoolVar(&forget, "forget", false, "take what is indexed of the paths out of the index; the files stay")
	f.BoolVar(&watch, "watch", false, "go on, and index each change, until interrupted")
	a.chunkFlags(f)
	c.AddCommand(a.indexStatsCommand(), a.collectionsCommand())
	a.collectionFlag(c.PersistentFlags())
	return c
}

// openToIndex opens the assistant for the documents named or configured.
func (a *app) openToIndex(ctx context.Context) (assistant *ragflow.Assistant, docs []string, err error) {
	a.collecting, a.asked = true, config.SearchModels
	assistant, err = a.open(ctx, func(c *ragflow.Config) {
		docs = c.Docs
		c.KeepChunking = a.chunkFlagged()
	})
	if err != nil {
		return nil, nil, err
	}
	if len(docs) == 0 {
		f := usagef("no documents named or configured")
		f.hint = `name them: ragflow index ./docs, or once for all: ragflow init --docs ./docs`
		return nil, nil, errors.Join(f, assistant.Close())
	}
	if assistant.ReadOnly() {
		return nil, nil, errors.Join(a.readOnly("index"), assistant.Close())
	}
	if err := a.keepCollection(a.opened); err != nil {
		return nil, nil, errors.Join(err, assistant.Close())
	}
	return assistant, docs, nil
}

// reembed makes all vectors again with the model that is configured now.
func (a *app) reembed(ctx context.Context) (err error) {
	a.reembedding, a.asked = true, config.SearchModels
	assistant, err := a.open(ctx, func(*ragflow.Config) {})
	if err != nil {
		return err
	}
	defer closeInto(&err, assistant)
	done, err := a.follow(ctx, assistant.Library().StartReembed(ctx))
	report := done.Dense
	if err != nil {
		if report != nil && report.Embedded > 0 {
			a.tell("%s; the next call goes on from there", embedded(report))
		}
		return failed("rebuild the vectors", err)
	}
	if err := a.keepCollection(a.opened); err != nil {
		return err
	}
	return a.print(report, func() {
		a.denseTrouble(report)
		fmt.Fprintf(a.out, "%s; %s of %d found by meaning\n", cmp.Or(embedded(report), "nothing to embed"),
			count(report.Chunks-report.Missing, "passage"), report.Chunks)
	})
}

// forget takes folders and files that were indexed out of the index.
func (a *app) forget(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return usagef("--forget needs the paths to forget").with("ragflow index stats lists those that are indexed")
	}
	nothing := func(c *ragflow.Config) { c.Docs = nil }
	return a.withAssistant(ctx, nothing, func(assistant *ragflow.Assistant) error {
		if assistant.ReadOnly() {
			return a.readOnly("forget")
		}
		for _, p := range paths {
			n, err := assistant.Library().Forget(ctx, p)
			if err != nil {
				return failed("forget "+p, err)
			}
			if n == 0 {
				return notFoundf("%s is not indexed", p).with("ragflow index stats lists the paths that are")
			}
			a.tell("forgot %s: %s", p, count(n, "file"))
		}
		return nil
	})
}

// readOnly says what cannot be done in a data folder that can only be read.
func (*app) readOnly(what string) error {
	return failed(what, fmt.Errorf("data folder: %w", ragflow.ErrReadOnly))
}

func (a *app) index(ctx context.Context, watch bool) (err error) {
	assistant, docs, err := a.openToIndex(ctx)
	if err != nil {
		return err
	}
	defer closeInto(&err, assistant)
	report, err := a.follow(ctx, assistant.Library().Start(ctx))
	if err != nil {
		return failed("index "+strings.Join(docs, ", "), err)
	}
	a.denseTrouble(report.Dense)
	err = a.print(report, func() {
		a.problems(report)
		fmt.Fprintln(a.out, indexed(report))
		if s := embedded(report.Dense); s != "" {
			fmt.Fprintln(a.out, s)
		}
		fmt.Fprintln(a.out, holds(report))
	})
	if err != nil {
		return err
	}
	if watch {
		return a.watch(ctx, assistant, docs)
	}
	if len(report.Failed) > 0 && report.Chunks == 0 {
		first := report.Failed[0]
		return &failure{code: exitFailure, what: "index", err: fmt.Errorf("no file could be read: %s: %s", first.Source, first.Reason)}
	}
	return nil
}

// holds says what the index holds now.
func holds(r *ingest.Report) string {
	return fmt.Sprintf("the index holds %s in %s", count(r.Chunks, "passage"), count(r.Files, "file"))
}

// denseTrouble warns where passages cannot be found by meaning.
func (a *app) denseTrouble(r *ingest.DenseReport) {
	switch {
	case r == nil:
	case r.Error != "" && r.Chunks == 0: // the vectors there cannot be used, so none was looked at
		a.warn("search by meaning is left out: " + r.Error)
	case r.Error != "":
		a.warn(fmt.Sprintf("search by meaning is incomplete, %d of %s without a vector: %s", r.Missing, count(r.Chunks, "passage"), r.Error))
	case r.Missing > 0:
		a.warn("search by meaning is incomplete, the model refused " + count(r.Missing, "passage"))
	}
}

// embedded sums up what embedding did, on one line; empty where it did nothing.
func embedded(r *ingest.DenseReport) string {
	if r == nil || r.Embedded == 0 {
		return ""
	}
	return fmt.Sprintf("embedded %s with %s", count(r.Embedded, "passage"), line(r.Model))
}
