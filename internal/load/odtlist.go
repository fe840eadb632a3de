package load

import (
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow/internal/document"
)

const maxLists = 10_000 // lists of a document whose numbers are computed

// odtLists counts the items of the lists of an OpenDocument text.
type odtLists struct {
	styles       map[string]*[maxLevels]listLevel
	outline      [maxLevels]listLevel // of headings outside of lists
	outlineCount listCount
	plain        map[string]bool       // styles of headings without numbers
	style        *[maxLevels]listLevel // that is being read

	open   []*[maxLevels]listLevel // styles of the open lists; nil is unknown
	count  *listCount              // of the outermost open list
	counts map[string]*listCount   // of lists by id, and of the last one by style
	items  []bool                  // open items and headers of lists: whether the next paragraph is its first
}

func newODTLists() odtLists {
	return odtLists{styles: map[string]*[maxLevels]listLevel{}, plain: map[string]bool{}, counts: map[string]*listCount{}}
}

var odtFormats = map[string]string{"": "none", "1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman", "01, 02, 03, ...": "decimalZero"}

// listElement reads an element of a style of lists, or of a list.
func (l *odtLists) listElement(e xml.StartElement) {
	switch e.Name.Local {
	case "list-style":
		if l.style = &[maxLevels]listLevel{}; len(l.styles) < maxLists {
			l.styles[attribute(e, "name")] = l.style
		}
	case "outline-style":
		l.style = &l.outline
	case "style":
		own := slices.IndexFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == "list-style-name" })
		none := own >= 0 && e.Attr[own].Value == "" || own < 0 && l.plain[attribute(e, "parent-style-name")]
		if none && len(l.plain) < maxLists {
			l.plain[attribute(e, "name")] = true
		}
	case "outline-level-style", "list-level-style-number", "list-level-style-bullet", "list-level-style-image":
		n, err := strconv.Atoi(attribute(e, "level"))
		if err == nil && n > 0 && n <= maxLevels && l.style != nil {
			l.style[n-1] = odtLevel(e, n, l.style)
		}
	case "list":
		l.openList(e)
	case "list-item", "list-header":
		l.items = append(l.items, e.Name.Local == "list-item")
		level := min(len(l.open), maxLevels) - 1
		if start, err := strconv.Atoi(attribute(e, "start-value")); err == nil && level >= 0 {
			l.count.at[level], l.count.begun[level] = start-1, true
		}
	}
}

// odtLevel returns a level, from 1, of a style.
func odtLevel(e xml.StartElement, n int, style *[maxLevels]listLevel) listLevel {
	format, known := odtFormats[attribute(e, "num-format")]
	if strings.HasSuffix(e.Name.Local, "bullet") || strings.HasSuffix(e.Name.Local, "image") {
		format = bulletFormat
	} else if !known {
		format = "decimal"
	}
	level := listLevel{format: format, start: 1, restart: n - 1}
	if start, err := strconv.Atoi(attribute(e, "start-value")); err == nil {
		level.start = start
	}
	shown, _ := strconv.Atoi(attribute(e, "display-levels")) // none is 1
	var numbers []string
	for i := max(n-max(shown, 1), 0); i < n; i++ {
		if i == n-1 && format != "none" || i < n-1 && style[i].format != "none" && style[i].format != bulletFormat {
			numbers = append(numbers, "%"+strconv.Itoa(i+1))
		}
	}
	if prefix, suffix := attribute(e, "num-prefix"), attribute(e, "num-suffix"); len(prefix)+len(suffix) <= maxLabel {
		level.label = strings.Map(document.Visible, prefix+strings.Join(numbers, ".")+suffix)
	}
	return level
}

// openList opens a list: one inside another one, one that continues, or a new one.
func (l *odtLists) openList(e xml.StartElement) {
	name := attribute(e, "style-name")
	style := l.styles[name]
	if style == nil && len(l.open) > 0 {
		style = l.open[len(l.open)-1]
	}
	if l.open = append(l.open, style); len(l.open) > 1 {
		return
	}
	l.count = &listCount{}
	if id := attribute(e, "continue-list"); l.counts["id "+id] != nil && id != "" {
		l.count = l.counts["id "+id]
	} else if l.counts["style "+name] != nil && attribute(e, "continue-numbering") == "true" {
		l.count = l.counts["style "+name]
	}
	if len(l.counts) < maxLists {
		l.counts["id "+attribute(e, "id")], l.counts["style "+name] = l.count, l.count
	}
}

// listEnd closes what listElement opened.
func (l *odtLists) listEnd(name string) {
	switch name {
	case "list":
		l.open = l.open[:max(len(l.open)-1, 0)]
	case "list-item", "list-header":
		l.items = l.items[:max(len(l.items)-1, 0)]
	case "list-style", "outline-style":
		l.style = nil
	}
}

// label returns the label of the next paragraph, which is inside so many lists. Only the first paragraph of an
// item has one.
func (l *odtLists) label(depth int) string {
	last := len(l.items) - 1
	if last < 0 || !l.items[last] || depth == 0 || len(l.open) == 0 {
		return ""
	}
	l.items[last] = false
	if style := l.open[len(l.open)-1]; style != nil {
		return l.count.next(style, min(len(l.open), maxLevels)-1)
	}
	return bullet
}
