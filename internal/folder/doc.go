// Package folder finds the documents of a folder.
//
//	for file, err := range folder.Files(ctx, "docs") {
//		if err != nil {
//			continue // err says which file is left out, and why
//		}
//		…
//	}
//
// [Files] walks in lexical order (walk.go), without hidden files and those that .gitignore and .ragflowignore leave
// out (ignore.go). A file that cannot be read is a [*FileError]; the others are still found.
package folder
