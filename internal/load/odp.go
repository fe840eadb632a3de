package load

import (
	"encoding/xml"
	"strconv"
	"strings"
	"unicode"
)

// readODP reads an OpenDocument presentation as readPPTX reads one.
func (d *draft) readODP(a *archive, out *builder) error {
	w := odpReader{slideReader: slideReader{officeReader: officeReader{builder: out, roles: odtRoles, direct: true}}, unseen: map[string]bool{}}
	w.more, w.ended, w.write = w.element, w.elementEnd, w.slideParagraph
	if err := a.stream("content.xml", &w); err != nil {
		return err
	}
	d.Pages = w.starts
	d.warnUnread(w.unread, "chart or diagram")
	return nil
}

type odpReader struct {
	slideReader
	starts []int           // of the slides
	unseen map[string]bool // styles of hidden slides
	style  string          // that is being read
}

// odpKinds are the kinds of shapes, by those of PowerPoint.
var odpKinds = map[string]string{
	"title": "title", "notes": "body", "header": "ftr", "footer": "ftr", "date-time": "dt", "page-number": "sldNum",
}

func (w *odpReader) element(e xml.StartElement) bool {
	switch name := e.Name.Local; {
	case name == "style":
		w.style = attribute(e, "name")
	case name == "drawing-page-properties" && attribute(e, "visibility") == "hidden":
		w.unseen[w.style] = true
	case name == "page":
		w.starts = append(w.starts, w.next())
		w.number = len(w.starts)
		w.slide(ownName(attribute(e, "name"), w.number), w.unseen[attribute(e, "style-name")])
	case name == "annotation":
		return false
	case name == "notes":
		w.notes = true
	case name == "object":
		w.unread++
	case name == "p":
		w.top().depth = max(w.top().depth-1, 0) // of a list
	case isShape(name):
		w.shape(odpKinds[attribute(e, "class")])
	case name == "table":
		w.begun(w.untitled)
	}
	return true
}

func (w *odpReader) elementEnd(name string) {
	if w.notes = w.notes && name != "notes"; isShape(name) {
		w.shapeEnd()
	}
}

// ownName returns the name that a person has given to a slide, "" for one like "page3".
func ownName(name string, number int) string {
	word, isNumbered := strings.CutSuffix(name, strconv.Itoa(number))
	if isNumbered && !strings.ContainsFunc(strings.TrimSpace(word), func(c rune) bool { return !unicode.IsLetter(c) }) {
		return ""
	}
	return name
}

func isShape(name string) bool {
	return strings.Contains(" frame custom-shape rect ellipse circle line polyline polygon path connector caption ", " "+name+" ")
}
