package ragflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/feedback"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/transcript"
	"example.com/ragflow/state"
)

const promotedDir = "promoted" // beside index.db: promoted answers, one Markdown file each

// promote writes what the rating promotes, in place of what was promoted of the run before.
func (a *Assistant) promote(f *Feedback, r Rating, run *ratedRun, cited []state.Citation, answered bool) error {
	config := a.config.of(run.State.Scope.Collection)
	for _, root := range rootsOf(cited) {
		if err := feedback.Remove(config.promotedFolder(root), run.ID); err != nil {
			return err
		}
	}
	if r.Better != "" {
		if err := config.takeBetter(f, r, run.State.Turn); err != nil {
			return err
		}
	}
	if f.Document != "" || !r.Good || !answered || len(cited) == 0 {
		return nil
	}
	f.Document = feedback.Path(config.promotedFolder(cited[0].Root), run.ID, feedback.Program)
	return feedback.WritePromoted(f.Document, f, cited)
}

// takeBetter keeps a person's answer, checks what it cites, and promotes it if that is wanted and its sources say all of
// it.
func (c Config) takeBetter(f *Feedback, r Rating, turn state.Turn) error {
	f.Better = strings.TrimSpace(transcript.Visible(r.Better))
	checked := cite.Validate(f.Better, len(turn.Sources))
	if checked.Invalid > 0 {
		return fmt.Errorf("the better answer cites a source that the rated answer did not have: it had %d", len(turn.Sources))
	}
	report := cite.Check(checked.Text, turn.Sources, cite.Options{})
	var picks []feedback.Pick
	var spans []cite.Pick
	for _, s := range report.Sentences {
		if s.Kind == cite.Claim && !s.Supported {
			f.Unsupported = append(f.Unsupported, s.Text)
		}
		for _, by := range s.Sources {
			spans = append(spans, cite.Pick{N: by.N, Start: by.Start, End: by.End})
			picks = append(picks, feedback.Pick{N: by.N, Start: by.Start, End: by.End})
		}
	}
	if len(spans) == 0 {
		return nil
	}
	cited, err := cite.Build(turn.Sources, spans...)
	if cited = c.ofDocuments(cited); err != nil || len(cited) == 0 {
		return err
	}
	f.Sources = pagesOf(cited)
	if !r.Promote || len(f.Unsupported) > 0 {
		return nil
	}
	f.Document = feedback.Path(c.promotedFolder(cited[0].Root), f.RunID, feedback.Person)
	return feedback.WriteBetter(f.Document, f, cite.Strip(checked.Text), cited, picks)
}

// ofDocuments leaves out citations of promoted answers, which themselves cite documents.
func (c Config) ofDocuments(cited []state.Citation) (out []state.Citation) {
	all := filepath.Dir(c.promotedFolder(""))
	for _, one := range cited {
		if filepath.Dir(one.Root) != all && one.Root != "" {
			out = append(out, one)
		}
	}
	return out
}

func pagesOf(cited []state.Citation) (out []string) {
	for _, c := range cited {
		if !slices.Contains(out, c.Source) {
			out = append(out, c.Source)
		}
	}
	return out
}

func rootsOf(cited []state.Citation) (out []string) {
	for _, c := range cited {
		if !slices.Contains(out, c.Root) {
			out = append(out, c.Root)
		}
	}
	return out
}

// of returns c for another collection; "" is that of c.
func (c Config) of(collection string) Config {
	c.Collection = cmp.Or(collection, c.Collection)
	return c
}

// promotedFolder is where answers lie that were promoted from the documents of a root:
// beside the index that finds them. So questions over other documents do not see them.
func (c Config) promotedFolder(root string) string {
	return filepath.Join(filepath.Dir(c.indexPath()), promotedDir, feedback.FolderName(root))
}

// promotedFolders are the folders of answers that were promoted from the documents of c, or from
// all documents where c names none.
func (c Config) promotedFolders() (out []string) {
	for _, docs := range c.Docs {
		if root, err := ingest.Root(docs); err == nil {
			out = append(out, c.promotedFolder(root))
		}
	}
	if len(c.Docs) > 0 {
		return out
	}
	all := filepath.Dir(c.promotedFolder(""))
	entries, _ := os.ReadDir(all) // nothing was promoted yet
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, filepath.Join(all, e.Name()))
		}
	}
	return out
}

// isPromoted reports whether a chunk is from a promoted answer.
func isPromoted(c state.Chunk) bool {
	return filepath.Base(filepath.Dir(c.Root)) == promotedDir && feedback.IsPromoted(c.Source)
}

// dropPromoted deletes promoted answers of a collection whose documents do not say them any more, and returns the names
// of their files; with chunks only answers that these are from.
func (a *Assistant) dropPromoted(ctx context.Context, collection string, chunks []state.Chunk) (dropped []string, err error) {
	config := a.config.of(collection)
	if config.indexPath() == "" || a.ReadOnly() {
		return nil, nil
	}
	ctx = graph.OwnedBy(ctx, "") // the answers of all owners
	files := &ingest.CitedFiles{}
	for _, folder := range config.promotedFolders() {
		promoted, err := feedback.ReadPromoted(folder)
		if err != nil {
			return dropped, fmt.Errorf("read promoted answers: %w", err)
		}
		for _, p := range promoted {
			name := filepath.Base(p.Path)
			if len(chunks) > 0 && !slices.ContainsFunc(chunks, func(c state.Chunk) bool { return c.Source == name && isPromoted(c) }) {
				continue
			}
			run, err := a.log.Run(ctx, p.Run)
			if err != nil {
				continue // its thread was deleted, or cannot be read: the person's file stays
			}
			if !slices.ContainsFunc(citedBy(p, run.State.Turn), func(c state.Citation) bool { return files.Changed(ctx, c) }) {
				continue
			}
			if err := os.Remove(p.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return dropped, fmt.Errorf("delete a promoted answer whose document changed: %w", err)
			}
			dropped = append(dropped, name)
		}
	}
	return dropped, nil
}

// citedBy returns the passages that a promoted answer rests on.
func citedBy(p feedback.Promoted, turn state.Turn) []state.Citation {
	if len(p.Picks) == 0 {
		return turn.Citations
	}
	var picks []cite.Pick
	for _, of := range p.Picks {
		picks = append(picks, cite.Pick{N: of.N, Start: of.Start, End: of.End})
	}
	cited, err := cite.Build(turn.Sources, picks...)
	if err != nil {
		return nil // a person edited the file
	}
	return cited
}
