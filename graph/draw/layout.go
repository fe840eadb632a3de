package draw

import (
	"cmp"
	"slices"

	"golang.org/x/text/width"

	"example.com/ragflow/graph"
)

// layout places a drawing on a grid of character cells: boxes one below the
// other, by rank, and wires between them.
type layout struct {
	boxes         []box
	wires         []wire
	width, height int // in cells
}

type box struct {
	name            string
	x, y, w, h      int // y is the upper border; h counts both borders
	round           bool
	inLeft, inRight int // ports in use at each side
}

// wire runs along points; only the last one has an arrowhead.
type wire struct {
	points  []point
	label   string
	labelAt point // of its first cell
	back    bool
}

type point struct{ x, y int }

// link leads from one box to another; from and to are indices of boxes.
type link struct {
	from, to int
	label    string
	fromPort int // row inside the box
	toPort   int
	lane     int
}

func (l *link) span() (lo, hi int) { return min(l.from, l.to), max(l.from, l.to) }

const (
	boxPadding = 2 // cells between a box's border and its name, both sides together
	laneWidth  = 3 // cells between two side wires
	boxGap     = 1 // rows between two boxes
)

// newLayout places the boxes of Start, the nodes by rank, and End, and the wires
// between them.
func newLayout(s graph.Shape) layout {
	boxes := []box{{name: "Start", round: true}}
	index := map[string]int{graph.Start: 0, graph.End: len(s.Nodes) + 1}
	for i, name := range s.Nodes {
		boxes = append(boxes, box{name: name})
		index[name] = i + 1
	}
	boxes = append(boxes, box{name: "End", round: true})

	var spine, left, right []link
	for _, l := range s.Links {
		l := link{from: index[l.From], to: index[l.To], label: l.Label}
		switch {
		case l.to == l.from+1:
			spine = append(spine, l)
		case l.to <= l.from:
			left = append(left, l)
		default:
			right = append(right, l)
		}
	}
	assignPorts(left, boxes, func(b *box) *int { return &b.inLeft })
	assignPorts(right, boxes, func(b *box) *int { return &b.inRight })

	gutterL, lanesL := side(left)
	gutterR, lanesR := side(right)
	d := layout{boxes: boxes}
	x := gutterL + lanesL*laneWidth
	w := d.placeBoxes(x)
	d.width = x + w + gutterR + lanesR*laneWidth
	for _, l := range spine {
		d.straight(l)
	}
	for _, l := range left {
		d.around(l, x, -1, gutterL)
	}
	for _, l := range right {
		d.around(l, x+w-1, +1, gutterR)
	}
	return d
}

// placeBoxes stacks the boxes and returns their common width.
func (d *layout) placeBoxes(x int) int {
	w := 0
	for _, b := range d.boxes {
		w = max(w, columns(b.name)+boxPadding+2)
	}
	w += 1 - w%2 // odd, so that there is a middle
	for i := range d.boxes {
		b := &d.boxes[i]
		b.x, b.y, b.w, b.h = x, d.height, w, 2+max(1, b.inLeft, b.inRight)
		d.height += b.h + boxGap
	}
	d.height -= boxGap
	return w
}

// side assigns a lane to each link of one side, inner lanes to short links. It
// returns the width of the gutter that holds the labels, and the number of lanes.
func side(links []link) (gutter, lanes int) {
	if len(links) == 0 {
		return 0, 0
	}
	order := make([]*link, len(links))
	for i := range links {
		order[i] = &links[i]
		gutter = max(gutter, columns(links[i].label))
	}
	slices.SortStableFunc(order, func(a, b *link) int {
		alo, ahi := a.span()
		blo, bhi := b.span()
		return cmp.Or(cmp.Compare(ahi-alo, bhi-blo), cmp.Compare(alo, blo))
	})
	lanesTaken := make([][]*link, 0, len(links))
	for _, l := range order {
		lo, hi := l.span()
		for l.lane < len(lanesTaken) && slices.ContainsFunc(lanesTaken[l.lane], func(o *link) bool {
			olo, ohi := o.span()
			return lo <= ohi && olo <= hi
		}) {
			l.lane++
		}
		if l.lane == len(lanesTaken) {
			lanesTaken = append(lanesTaken, nil)
		}
		lanesTaken[l.lane] = append(lanesTaken[l.lane], l)
	}
	return gutter + 6, len(lanesTaken)
}

// assignPorts gives each end of a link its own row in its box. Links that lead
// up get the upper rows, so that the wires of one box do not cross.
func assignPorts(links []link, boxes []box, used func(*box) *int) {
	type end struct {
		other int
		port  *int
		span  int
	}
	for i := range boxes {
		var up, down []end
		for k := range links {
			l := &links[k]
			lo, hi := l.span()
			if l.from == i && l.to == i {
				up = append(up, end{i, &l.toPort, 0})
				down = append(down, end{i, &l.fromPort, 0})
				continue
			}
			for _, e := range []struct {
				here, there int
				port        *int
			}{{l.from, l.to, &l.fromPort}, {l.to, l.from, &l.toPort}} {
				switch {
				case e.here != i:
				case e.there < i:
					up = append(up, end{e.there, e.port, hi - lo})
				default:
					down = append(down, end{e.there, e.port, hi - lo})
				}
			}
		}
		slices.SortStableFunc(up, func(a, b end) int { return cmp.Compare(b.span, a.span) })
		slices.SortStableFunc(down, func(a, b end) int { return cmp.Compare(a.span, b.span) })
		slices.Reverse(up)
		slices.Reverse(down)
		for row, e := range slices.Concat(up, down) {
			*e.port = row
		}
		*used(&boxes[i]) = len(up) + len(down)
	}
}

// straight draws the wire to the next box.
func (d *layout) straight(l link) {
	b, to := d.boxes[l.from], d.boxes[l.to]
	x := b.x + b.w/2
	d.wires = append(d.wires, wire{
		points: []point{{x, b.y + b.h}, {x, to.y - 1}},
		label:  l.label, labelAt: point{x + 2, b.y + b.h},
	})
	d.width = max(d.width, x+2+columns(l.label))
}

// around draws a wire from one side of a box to the same side of another. edge
// is the column of that side; dir points away from the boxes.
func (d *layout) around(l link, edge, dir, gutter int) {
	from := point{edge + dir, d.boxes[l.from].y + 1 + l.fromPort}
	to := point{edge + dir, d.boxes[l.to].y + 1 + l.toPort}
	lane := edge + dir*(gutter+l.lane*laneWidth)
	w := columns(l.label)
	at := point{from.x + 2, from.y}
	if dir < 0 {
		at.x = from.x - 1 - w
	}
	d.wires = append(d.wires, wire{
		points: []point{from, {lane, from.y}, {lane, to.y}, to},
		label:  l.label, labelAt: at, back: dir < 0,
	})
}

// columns returns how many cells a text takes up: wide characters take two.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
		return 2
	}
	return 1
}
