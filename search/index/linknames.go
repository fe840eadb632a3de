package index

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"
)

// pageNames finds a document by what others call it.
type pageNames struct {
	pages []linkedPage
	bySource,
	byPath, // where it is found: see pagePath
	byLast, // by the last element of that
	byAlias, // paths that it says it is found under too
	byURL,
	byTitle,
	byID map[string][]int32
}

func newPageNames(pages []linkedPage) *pageNames {
	n := &pageNames{
		pages: pages, bySource: map[string][]int32{}, byPath: map[string][]int32{}, byLast: map[string][]int32{},
		byAlias: map[string][]int32{}, byURL: map[string][]int32{}, byTitle: map[string][]int32{}, byID: map[string][]int32{},
	}
	for i, p := range pages {
		put := func(m map[string][]int32, key string) {
			if key != "" && !slices.Contains(m[key], int32(i)) { //nolint:gosec // far fewer
				m[key] = append(m[key], int32(i)) //nolint:gosec // likewise
			}
		}
		at := pagePath(p.source)
		put(n.bySource, strings.ToLower(p.source))
		put(n.byPath, at)
		put(n.byLast, path.Base("/"+at))
		for _, key := range []string{"aliases", "url", "permalink", "redirect_from"} {
			for _, alias := range items(p.meta[key]) {
				if strings.HasPrefix(alias, "/") {
					put(n.byAlias, pagePath(alias))
				}
			}
		}
		put(n.byURL, pageURL(p.url))
		put(n.byTitle, foldName(p.title))
		for _, key := range []string{"document_id", "pattern_id", "id", "_id", "slug", "name"} {
			put(n.byID, foldName(p.meta[key]))
		}
	}
	return n
}

// pagePath brings the path of a page to the one it is called by: without its
// extension, of a folder without the name of its index, in lower case.
func pagePath(p string) string {
	p = strings.ToLower(strings.Trim(path.Clean("/"+strings.ReplaceAll(p, `\`, "/")), "/"))
	switch ext := path.Ext(p); ext {
	case ".md", ".markdown", ".mdown", ".mkd", ".mdx", ".html", ".htm", ".xhtml", ".rst", ".txt", ".adoc":
		p = strings.TrimSuffix(p, ext)
	}
	switch dir, last := path.Split(p); last {
	case "index", "_index", "readme":
		return strings.TrimSuffix(dir, "/")
	}
	return p
}

// pageURL brings an address to the one a page is called by; "" where s is none.
func pageURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return strings.TrimPrefix(strings.ToLower(u.Host), "www.") + "/" + pagePath(u.Path)
}

func foldName(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// isPath reports whether a target is meant to be a page beside this one.
func isPath(target string) bool {
	return !strings.Contains(target, "://") && strings.ContainsAny(target, "/.") && !strings.Contains(target, " ")
}

// resolve finds the document that a link of a page leads to: by address, by path
// (beside the page, below it as sites have it that show a page as a folder, or
// anywhere in the collection, for a site seldom begins where the folder does),
// by an alias, by id and by title. What could be several is the one nearest to the
// root for a path that begins with a slash, and none otherwise.
func (n *pageNames) resolve(from *linkedPage, target string) (int32, bool) {
	if strings.Contains(target, "://") {
		return alone(n.byURL[pageURL(target)])
	}
	rooted := strings.HasPrefix(target, "/")
	if rooted {
		at := pagePath(target)
		if to, ok := n.exact(from, strings.TrimPrefix(path.Clean(target), "/"), at); ok {
			return to, true
		}
		if to, ok := n.below(from, at, false); ok {
			return to, true
		}
		return first(n.byAlias[at])
	}
	for _, beside := range []string{path.Dir(from.source), pagePath(from.source)} {
		joined := path.Join(beside, target)
		if joined == ".." || strings.HasPrefix(joined, "../") {
			continue
		}
		if to, ok := n.exact(from, joined, pagePath(joined)); ok {
			return to, true
		}
	}
	if !strings.HasPrefix(target, ".") {
		if to, ok := n.below(from, pagePath(target), true); ok {
			return to, true
		}
	}
	name := foldName(target)
	if to, ok := alone(n.byID[name]); ok {
		return to, true
	}
	return alone(n.byTitle[name])
}

// exact finds the page at a path: the file of that name before others that are
// called so.
func (n *pageNames) exact(from *linkedPage, source, at string) (int32, bool) {
	if to, ok := first(n.bySource[strings.ToLower(source)]); ok {
		return to, true
	}
	found := n.byPath[at]
	if len(found) == 0 {
		return 0, false
	}
	return n.best(from, found), true
}

// best chooses among pages that one path may stand for: the nearest to the root,
// then those that lie in the same folders as the page with the link, then by rank
// and source.
func (n *pageNames) best(from *linkedPage, found []int32) int32 {
	return slices.MinFunc(found, func(a, b int32) int {
		s, t := n.pages[a].source, n.pages[b].source
		return cmp.Or(
			cmp.Compare(strings.Count(pagePath(s), "/"), strings.Count(pagePath(t), "/")),
			cmp.Compare(shared(from.source, t), shared(from.source, s)),
			cmp.Compare(pageRank(s), pageRank(t)),
			cmp.Compare(a, b),
		)
	})
}

// shared counts the folders that two files have in common.
func shared(a, b string) int {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			break
		}
		if a[i] == '/' {
			n++
		}
	}
	return n
}

// pageRank says which of the files that are called by one path is the page: one
// of that name, else the index of the folder, else what is there to be read.
func pageRank(source string) int {
	name, _, _ := strings.Cut(strings.ToLower(path.Base(source)), ".")
	switch name {
	case "index", "_index":
		return 1
	case "readme":
		return 2
	}
	return 0
}

// below finds the page whose path ends in one: the one nearest to the root, or the
// only one.
func (n *pageNames) below(from *linkedPage, at string, unique bool) (int32, bool) {
	var found []int32
	for _, p := range n.byLast[path.Base("/"+at)] {
		if at != "" && strings.HasSuffix("/"+pagePath(n.pages[p].source), "/"+at) {
			found = append(found, p)
		}
	}
	if unique || len(found) == 0 {
		return alone(found)
	}
	return n.best(from, found), true
}

func first(pages []int32) (int32, bool) {
	if len(pages) == 0 {
		return 0, false
	}
	return pages[0], true
}

func alone(pages []int32) (int32, bool) {
	if len(pages) != 1 {
		return 0, false
	}
	return pages[0], true
}
