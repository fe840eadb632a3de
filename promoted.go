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
	"example.com/ragflow/internal/text"
	"example.com/ragflow/internal/transcript"
	"example.com/ragflow/state"
)

const promotedDir = "promoted" // beside index.db: promoted answers, one Markdown file each

// promote writes what the rating promotes, in place of what was promoted of the run before.
func (c Config) promote(f *Feedback, r Rating, turn state.Turn, cited []state.Citation, answered bool) error {
	better, picks, err := c.checkBetter(f, r, turn)
	if err != nil {
		return err
	}
	everywhere := c
	everywhere.Docs = nil
	for _, folder := range everywhere.promotedFolders() {
		if err := feedback.Remove(folder, f.RunID); err != nil {
			return err
		}
	}
	by := feedback.Program
	switch {
	case len(better) > 0:
		by, cited = feedback.Person, better
	case !r.Good || !answered || len(cited) == 0:
		return nil
	}
	f.Document = feedback.Path(c.promotedFolder(cited[0].Root), f.RunID, by)
	return feedback.WritePromoted(f.Document, f, cited, picks)
}

// checkBetter keeps a person's answer, if there is one, and checks what it cites. It returns the cited passages and their
// places in the sources; nothing if the answer must not be promoted, or if its sources do not say all of it.
func (c Config) checkBetter(f *Feedback, r Rating, turn state.Turn) (cited []state.Citation, picks []cite.Pick, err error) {
	f.Better = strings.TrimSpace(transcript.Visible(r.Better))
	checked := cite.Validate(f.Better, len(turn.Sources))
	if checked.Invalid > 0 {
		return nil, nil, fmt.Errorf("the better answer cites a source that the rated answer did not have: it had %d; take such marks out", len(turn.Sources))
	}
	var o cite.Options
	if len(checked.Cited) > 0 { // an answer may be too short to detect its language
		o.Language = text.Language(turn.Sources[checked.Cited[0]-1].Text)
	}
	for _, s := range cite.Check(checked.Text, turn.Sources, o).Sentences {
		if !s.Supported || !slices.ContainsFunc(s.Sources, func(by cite.Support) bool { return by.Firm }) {
			f.Unsupported = append(f.Unsupported, besideSource(s, turn.Sources))
		}
		for _, by := range s.Sources {
			picks = append(picks, cite.Pick{N: by.N, Start: by.Start, End: by.End})
		}
	}
	if cited, err = cite.Build(turn.Sources, picks...); err != nil {
		return nil, nil, err
	}
	if cited = c.ofDocuments(cited); len(cited) > 0 {
		f.Cite(cited)
	}
	if !r.Promote || len(f.Unsupported) > 0 || len(cited) == 0 {
		return nil, nil, nil
	}
	return cited, picks, nil
}

// besideSource returns a statement with the sentence of a source that is closest to it, if one is.
func besideSource(s cite.Sentence, sources []state.Source) string {
	if s.Best.Near == 0 || s.Best.End == 0 {
		return s.Text
	}
	said := sources[s.Best.N-1].Text[s.Best.Start:s.Best.End]
	return fmt.Sprintf("%s [Source %d: %s]", s.Text, s.Best.N, cite.Snippet(text.Clean(said)))
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
	cited, err := cite.Build(turn.Sources, p.Picks...)
	if err != nil {
		return nil // a person edited the file
	}
	return cited
}
