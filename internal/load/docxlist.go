package load

import (
	"cmp"
	"strconv"
	"strings"

	"example.com/ragflow/internal/document"
)

// docxValue is an element with its value in the attribute val.
type docxValue struct {
	Val string `xml:"val,attr"`
}

type docxStyle struct {
	ID      string    `xml:"styleId,attr"`
	Name    docxValue `xml:"name"`
	BasedOn docxValue `xml:"basedOn"`
	Outline docxValue `xml:"pPr>outlineLvl"`
	List    docxValue `xml:"pPr>numPr>numId"`
	Depth   docxValue `xml:"pPr>numPr>ilvl"`
}

// level returns the level of the headings of a style, from 1; 0 for other styles.
func (s docxStyle) level() int {
	if n, err := strconv.Atoi(s.Outline.Val); err == nil && n >= 0 && n < 9 {
		return n + 1
	}
	name, ok := strings.CutPrefix(strings.ToLower(s.Name.Val), "heading ")
	if n, err := strconv.Atoi(name); ok && err == nil {
		return max(n, 0)
	}
	return 0
}

// docxParagraphStyle is the style properties of a paragraph that matter here.
type docxParagraphStyle struct {
	title bool // of the document
	level int
	list  string
	depth int
}

// docxStyles reads the styles by id, each with its inherited level and list, and the lists by id. An error
// says why there are no lists.
func docxStyles(a *archive) (map[string]docxParagraphStyle, map[string]*docxList, error) {
	var sheet struct {
		Styles []docxStyle `xml:"style"`
	}
	_ = a.decode("word/styles.xml", &sheet) // without styles, all is text
	own := map[string]docxStyle{}
	for _, s := range sheet.Styles {
		own[s.ID] = s
	}
	lists, err := docxLists(a, own)
	out := map[string]docxParagraphStyle{}
	for id, s := range own {
		p := docxParagraphStyle{title: strings.EqualFold(s.Name.Val, "title")}
		depth, levels := "", map[string]string{}
		for range 16 { // styles may be based on each other in circles
			p.level, p.list = cmp.Or(p.level, s.level()), cmp.Or(p.list, s.List.Val)
			if list := lists[p.list]; list != nil {
				levels = list.styles
			}
			depth = cmp.Or(depth, levels[s.ID], s.Depth.Val)
			s = own[s.BasedOn.Val]
		}
		n, _ := strconv.Atoi(depth) // none is 0
		p.depth = max(0, min(n, 8))
		out[id] = p
	}
	return out, lists, err
}

type docxLevel struct {
	Level   string     `xml:"ilvl,attr"`
	Start   docxValue  `xml:"start"`
	Format  docxValue  `xml:"numFmt"`
	Label   docxValue  `xml:"lvlText"`
	Style   docxValue  `xml:"pStyle"`
	Restart *docxValue `xml:"lvlRestart"`
	Legal   *docxValue `xml:"isLgl"`
}

// docxList is a list that paragraphs name. Lists of one definition share their numbers.
type docxList struct {
	levels   [maxLevels]listLevel
	count    *listCount
	restarts [maxLevels]bool   // levels that begin again at their first item in this list
	styles   map[string]string // levels by the styles of paragraphs
}

// next counts an item of a level, and returns its label.
func (l *docxList) next(level int) string {
	if l.restarts[level] {
		l.restarts[level], l.count.begun[level] = false, false
	}
	return l.count.next(&l.levels, level)
}

func (l *docxList) set(levels []docxLevel) {
	for _, x := range levels {
		n, err := strconv.Atoi(x.Level)
		if err != nil || n < 0 || n >= maxLevels {
			continue
		}
		level := listLevel{format: x.Format.Val, restart: n, legal: x.Legal != nil && x.Legal.Val != "0" && x.Legal.Val != "false"}
		level.start, _ = strconv.Atoi(x.Start.Val) // none is 0
		if x.Restart != nil {
			level.restart, _ = strconv.Atoi(x.Restart.Val)
		}
		if len(x.Label.Val) <= maxLabel {
			level.label = strings.Map(document.Visible, x.Label.Val)
		}
		if l.levels[n] = level; x.Style.Val != "" {
			l.styles[x.Style.Val] = x.Level
		}
	}
}

// docxLists reads the lists of a document, by the id that paragraphs name.
func docxLists(a *archive, styles map[string]docxStyle) (map[string]*docxList, error) {
	const part = "word/numbering.xml"
	if !a.has(part) {
		return nil, nil
	}
	type definition struct {
		ID     string      `xml:"abstractNumId,attr"`
		Link   docxValue   `xml:"numStyleLink"`
		Levels []docxLevel `xml:"lvl"`
	}
	type override struct {
		Level  string      `xml:"ilvl,attr"`
		Start  docxValue   `xml:"startOverride"`
		Levels []docxLevel `xml:"lvl"`
	}
	var sheet struct {
		Definitions []definition `xml:"abstractNum"`
		Lists       []struct {
			ID         string     `xml:"numId,attr"`
			Definition docxValue  `xml:"abstractNumId"`
			Overrides  []override `xml:"lvlOverride"`
		} `xml:"num"`
	}
	if err := a.decode(part, &sheet); err != nil {
		return nil, err
	}
	definitions, named := map[string]definition{}, map[string]string{}
	for _, d := range sheet.Definitions {
		definitions[d.ID] = d
	}
	for _, l := range sheet.Lists {
		named[l.ID] = l.Definition.Val
	}
	out, counts := map[string]*docxList{}, map[string]*listCount{}
	for _, l := range sheet.Lists[:min(len(sheet.Lists), maxLists)] {
		d := definitions[l.Definition.Val]
		for range 4 { // a list may be that of a style
			if link := d.Link.Val; link != "" {
				d = definitions[named[styles[link].List.Val]]
			}
		}
		if counts[d.ID] == nil {
			counts[d.ID] = &listCount{}
		}
		list := &docxList{count: counts[d.ID], styles: map[string]string{}}
		list.set(d.Levels)
		for _, o := range l.Overrides {
			list.set(o.Levels)
			n, err := strconv.Atoi(o.Level)
			start, none := strconv.Atoi(o.Start.Val)
			if err == nil && none == nil && n >= 0 && n < maxLevels {
				list.levels[n].start, list.restarts[n] = start, true
			}
		}
		out[l.ID] = list
	}
	return out, nil
}
