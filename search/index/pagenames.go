package index

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// pageNames finds a document by what others call it. The key is a kind of name and the
// name, such as "path guide/start".
type pageNames struct {
	pages []page
	byKey map[string][]int
}

func newPageNames(pages []page) pageNames {
	n := pageNames{pages: pages, byKey: map[string][]int{}}
	for i := range pages {
		p := &pages[i]
		put := func(kind, name string) {
			if key := kind + name; name != "" && !slices.Contains(n.byKey[key], i) {
				n.byKey[key] = append(n.byKey[key], i)
			}
		}
		at := pagePath(p.source)
		put("file ", strings.ToLower(p.source))
		put("path ", at)
		put("last ", path.Base("/"+at))
		put("title ", foldName(p.title))
		for _, key := range []string{"document_id", "pattern_id", "id", "_id", "slug", "name"} {
			put("id ", foldName(p.meta[key]))
		}
	}
	return n
}

// pagePath brings the path of a page to the one that links use: without its extension, of
// a folder without the name of its index, in lower case.
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

func foldName(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// isPath reports whether a target is meant to be a page beside this one.
func isPath(target string) bool {
	return !strings.Contains(target, "://") && strings.ContainsAny(target, "/.") && !strings.Contains(target, " ")
}

// resolve finds the document that a link of the page at from leads to: by path
// (beside the page, below it as on sites that show a page as a folder, or anywhere in the
// collection, because a site seldom begins where the folder does), by id or title.
// Of several pages, a path that begins with a slash means the nearest to the root; any
// other target means none.
func (n *pageNames) resolve(from, target string) (int, bool) {
	if strings.HasPrefix(target, "/") {
		found := n.exact(strings.TrimPrefix(path.Clean(target), "/"))
		if len(found) == 0 {
			found = n.endingIn(pagePath(target))
		}
		return n.nearest(from, found)
	}
	for _, beside := range []string{path.Dir(from), pagePath(from)} {
		joined := path.Join(beside, target)
		if joined == ".." || strings.HasPrefix(joined, "../") {
			continue
		}
		if to, ok := n.nearest(from, n.exact(joined)); ok {
			return to, true
		}
	}
	if !strings.HasPrefix(target, ".") {
		if to, ok := only(n.endingIn(pagePath(target))); ok {
			return to, true
		}
	}
	name := foldName(target)
	if to, ok := only(n.byKey["id "+name]); ok {
		return to, true
	}
	return only(n.byKey["title "+name])
}

// exact returns the pages at a path: the file of that name, or else all that are called so.
func (n *pageNames) exact(at string) []int {
	if found := n.byKey["file "+strings.ToLower(at)]; len(found) > 0 {
		return found[:1]
	}
	return n.byKey["path "+pagePath(at)]
}

// endingIn returns the pages whose path ends in one.
func (n *pageNames) endingIn(at string) (found []int) {
	for _, p := range n.byKey["last "+path.Base("/"+at)] {
		if at != "" && strings.HasSuffix("/"+pagePath(n.pages[p].source), "/"+at) {
			found = append(found, p)
		}
	}
	return found
}

// nearest returns the page that is nearest to the root, then the one that shares most of its path
// with the page at from. Of one folder, a README comes last, because it is the index only where
// there is no other.
func (n *pageNames) nearest(from string, found []int) (int, bool) {
	if len(found) == 0 {
		return 0, false
	}
	place := func(p int) (depth, shared, readme int) {
		source := n.pages[p].source
		for shared < min(len(from), len(source)) && from[shared] == source[shared] {
			shared++
		}
		if strings.HasPrefix(strings.ToLower(path.Base(source)), "readme.") {
			readme = 1
		}
		return strings.Count(pagePath(source), "/"), strings.Count(source[:shared], "/"), readme
	}
	return slices.MinFunc(found, func(a, b int) int {
		depth, shared, readme := place(a)
		otherDepth, otherShared, otherReadme := place(b)
		return cmp.Or(cmp.Compare(depth, otherDepth), cmp.Compare(otherShared, shared), cmp.Compare(readme, otherReadme), cmp.Compare(a, b))
	}), true
}

func only(pages []int) (int, bool) {
	if len(pages) != 1 {
		return 0, false
	}
	return pages[0], true
}
