package index

// selection is what of a searcher may be found, part by part. The nil selection
// is everything that is live.
type selection struct {
	files  []bitmap // by part: live files that may be found; nil: all live ones
	chunks []bitmap // by part: chunks that may be found of those files; nil: all
}

// filesOf returns the files of part i that may be found; nil: all.
func (s *selection) filesOf(p *part, i int) bitmap {
	if s == nil || s.files == nil {
		return p.alive
	}
	return s.files[i]
}

// has reports whether a chunk, of a file that may be found, may itself.
func (s *selection) has(part, chunk int) bool {
	return s == nil || s.chunks == nil || s.chunks[part] == nil || s.chunks[part].has(chunk)
}
