package ingest

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/load"
)

// inPart begins search.File.Error of a file that was read except for some of its parts.
const inPart = "read in part: "

// maxPartly is the maximum length of what is stored about unread parts of a file, in bytes.
const maxPartly = 500

// partly returns search.File.Error for the warnings about a document; "" without any.
func partly(warnings []string) string {
	if len(warnings) == 0 {
		return ""
	}
	all := strings.Join(warnings, "; ")
	return inPart + strings.ToValidUTF8(all[:min(len(all), maxPartly)], "")
}

func isPartly(reason string) bool { return strings.HasPrefix(reason, inPart) }

// Unread lists the files below the indexed roots that no search finds, or not wholly: they could not be read, are
// of a kind that is not read, or have parts without text, such as scanned pages. The first 1,000 by name are listed.
// The folders are walked.
func (l *Library) Unread(ctx context.Context) ([]FileProblem, error) {
	out := []FileProblem{}
	for _, root := range l.View().Roots {
		known, err := l.index.Files(ctx, root)
		if err != nil {
			return nil, err
		}
		for _, f := range known {
			if f.Error != "" {
				out = append(out, FileProblem{f.Source, strings.TrimPrefix(f.Error, inPart)})
			}
		}
		for _, err := range folder.Files(ctx, root) {
			left, ok := errors.AsType[*folder.FileError](err)
			if !ok || !errors.Is(left.Err, load.ErrNoLoader) {
				continue
			}
			if source, err := filepath.Rel(root, left.Path); err == nil {
				out = append(out, FileProblem{filepath.ToSlash(source), left.Err.Error()})
			}
		}
	}
	slices.SortFunc(out, func(a, b FileProblem) int {
		return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.Reason, b.Reason))
	})
	return out[:min(len(out), maxChanges)], ctx.Err()
}
