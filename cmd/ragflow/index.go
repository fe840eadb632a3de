package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/settings"
	"example.com/ragflow/search"
)

func (a *app) indexCommand(g *given) *cobra.Command {
	var forget, rebuild, watch bool
	var ocr string
	c := command("index [PATH]...", -1, func(c *cobra.Command, args []string) error {
		if forget {
			return a.forget(c.Context(), g, args)
		}
		g.setDocs(args)
		switch {
		case rebuild && (watch || g.cut()):
			return usagef("--rebuild reads no documents, so it goes with --collection and --json only")
		case rebuild:
			return a.reembed(c.Context(), g)
		case watch && a.asJSON:
			return usagef("--watch does not go with --json")
		}
		return a.index(c.Context(), g, watch, ocr)
	})
	f := c.Flags()
	a.jsonFlag(c)
	f.BoolVar(&rebuild, "rebuild", false, "make all vectors again with the embedding model configured now; read no documents")
	f.BoolVar(&forget, "forget", false, "take what is indexed of the paths out of the index; the files stay")
	f.BoolVar(&watch, "watch", false, "go on, and index each change, until interrupted")
	f.StringVar(&ocr, "ocr", "", "read scanned pages of PDFs, too, with the installed program tesseract, in these `LANGUAGES`; alone: English")
	f.Lookup("ocr").NoOptDefVal = "eng"
	g.add(f, chunkFlags...)
	g.addNoMeaning(f)
	c.AddCommand(a.indexStatsCommand(g), a.indexCollectionsCommand(g))
	g.addCollection(c.PersistentFlags())
	return c
}

// index brings the index up to date with the documents that are named or configured.
func (a *app) index(ctx context.Context, g *given, watch bool, ocr string) error {
	keep := func(c *ragflow.Config) { c.KeepChunking, c.OCR = g.cut(), cmp.Or(ocr, c.OCR) }
	return a.with(ctx, g, opening{models: settings.SearchModels, newCollection: true, change: keep}, func(opened *session) error {
		return a.indexIn(ctx, g, opened, watch)
	})
}

func (a *app) indexIn(ctx context.Context, g *given, opened *session, watch bool) error {
	docs := opened.settings.Config.Docs
	switch {
	case len(docs) == 0:
		return usagef("no documents named or configured").with(`name them: ragflow index ./docs, or once for all: ragflow init --docs ./docs`)
	case opened.ReadOnly():
		return errReadOnly("index")
	}
	if err := opened.settings.KeepCollection(); err != nil {
		return failed("", err)
	}
	report, err := a.follow(ctx, opened.Library().Start(ctx))
	if err != nil {
		return failed("index "+strings.Join(docs, ", "), err)
	}
	a.denseTrouble(report.Dense)
	lacking := report.Dense == nil && !watch // a watch makes them in the background
	if lacking && a.asJSON {
		if err := a.embedLacking(ctx, opened, report); err != nil {
			return err
		}
	}
	err = a.print(report, func() {
		a.problems(g, report)
		fmt.Fprintln(a.out, indexed(report))
		if s := embedded(report.Dense); s != "" {
			fmt.Fprintln(a.out, s)
		}
		fmt.Fprintln(a.out, holds(report))
	})
	switch {
	case err != nil:
		return err
	case watch:
		a.tell("watching %s — end with Ctrl-C", strings.Join(docs, ", "))
		return a.watch(ctx, opened)
	case report.Files == 0:
		return noneRead("index "+strings.Join(docs, ", "), report)
	case lacking && !a.asJSON:
		_ = a.out.Flush() // an error of the output is reported at the end
		if err := a.embedLacking(ctx, opened, report); err != nil {
			return err
		}
		if s := embedded(report.Dense); s != "" {
			fmt.Fprintln(a.out, s)
		}
	}
	if len(report.Failed) > 0 && report.Chunks == 0 {
		first := report.Failed[0]
		return &failure{code: exitFailure, what: "index", err: fmt.Errorf("no file could be read: %s: %s", first.Source, first.Reason)}
	}
	return nil
}

// embedLacking makes the vectors that passages lack with the model in the program, if that is wanted. Words find the
// documents before, and after an interruption.
func (a *app) embedLacking(ctx context.Context, opened *session, report *ingest.Report) error {
	done, err := a.follow(ctx, opened.Library().StartEmbed(ctx))
	report.Dense = done.Dense
	if errors.Is(err, search.ErrNoDense) {
		return nil
	}
	if err != nil && report.Dense != nil && report.Dense.Embedded > 0 {
		a.tell("%s; the next call goes on from there", embedded(report.Dense))
	}
	return failed("make vectors", err)
}

// reembed makes all vectors again with the model that is configured now.
func (a *app) reembed(ctx context.Context, g *given) error {
	return a.with(ctx, g, opening{models: settings.SearchModels, reembed: true}, func(opened *session) error {
		done, err := a.follow(ctx, opened.Library().StartReembed(ctx))
		report := done.Dense
		if err != nil {
			if report != nil && report.Embedded > 0 {
				a.tell("%s; the next call goes on from there", embedded(report))
			}
			return failed("rebuild the vectors", err)
		}
		if err := opened.settings.KeepCollection(); err != nil {
			return failed("", err)
		}
		return a.print(report, func() {
			a.denseTrouble(report)
			fmt.Fprintf(a.out, "%s; %s of %d found by meaning\n", cmp.Or(embedded(report), "nothing to embed"),
				count(report.Chunks-report.Missing, "passage"), report.Chunks)
		})
	})
}

// forget takes folders and files that were indexed out of the index.
func (a *app) forget(ctx context.Context, g *given, paths []string) error {
	if len(paths) == 0 {
		return usagef("--forget needs the paths to forget").with("ragflow index stats lists those that are indexed")
	}
	nothing := func(c *ragflow.Config) { c.Docs = nil }
	return a.with(ctx, g, opening{models: settings.NoModels, change: nothing}, func(opened *session) error {
		if opened.ReadOnly() {
			return errReadOnly("forget")
		}
		for _, p := range paths {
			n, err := opened.Library().Forget(ctx, p)
			if err != nil {
				return failed("forget "+p, err)
			}
			if n == 0 {
				return notFoundf("%s is not indexed", p).with("ragflow index stats lists the paths that are")
			}
			a.tell("forgot %s: %s", p, count(n, "file"))
		}
		if err := opened.settings.DropDocs(paths...); err != nil {
			return failed("", err)
		}
		return nil
	})
}
