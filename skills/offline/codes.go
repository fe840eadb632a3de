package offline

import (
	"regexp"
	"strings"
)

// codeName is a code that things of one kind are told apart by: F.28, E404, HH-2048.
// Its letters say the kind, its number which one.
var codeName = regexp.MustCompile(`\b(\p{L}{1,5}[.\-_]?)(\d{1,6})\b`)

// anotherCode reports whether a statement speaks of another thing of a kind than the one
// that the question names by its code: of F.22 where F.28 is asked for.
func (s *selection) anotherCode(at place) bool {
	asked := codeName.FindAllStringSubmatch(s.question, -1)
	if asked == nil {
		return false
	}
	another := false
	for _, m := range codeName.FindAllStringSubmatch(s.passages[at.passage].text(at.unit), -1) {
		for _, q := range asked {
			if strings.EqualFold(m[1], q[1]) {
				if m[2] == q[2] {
					return false
				}
				another = true
			}
		}
	}
	return another
}
