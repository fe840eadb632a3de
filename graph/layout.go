package graph

import (
	"cmp"
	"slices"

	"golang.org/x/text/width"
)

// layout is a drawing of a plan on a grid of character cells: boxes one below
// the other, by rank, and wires between them. [Plan.ASCII] and [Plan.SVG] are
// two ways to paint it.
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
	points         []point
	label          string
	labelAt        point // of its first cell
	labelW         int
	back, branched bool
}

type point struct{ x, y int }

// link is what leads from one box to another.
type link struct {
	from, to int
	label    string
	branched bool
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

// links lists what leads where, as indices of boxes: 0 is Start, then the nodes
// by rank, last End.
func (p *Plan[S, U]) links() []link {
	at := func(node int) int {
		if node == endIndex {
			return len(p.nodes) + 1
		}
		return node + 1
	}
	var out []link
	for _, to := range p.first {
		out = append(out, link{from: 0, to: at(to)})
	}
	for i := range p.nodes {
		for _, to := range p.nodes[i].next {
			out = append(out, link{from: i + 1, to: at(to)})
		}
		for _, to := range p.nodes[i].to {
			out = append(out, link{from: i + 1, to: at(to.index), label: to.label, branched: true})
		}
		if h := p.nodes[i].handler; h != noIndex {
			out = append(out, link{from: i + 1, to: at(h), label: "on error", branched: true})
		}
	}
	return out
}

func (p *Plan[S, U]) layout() layout {
	boxes := []box{{name: "Start", round: true}}
	for i := range p.nodes {
		boxes = append(boxes, box{name: p.nodes[i].name})
	}
	boxes = append(boxes, box{name: "End", round: true})

	var spine, left, right []link
	for _, l := range p.links() {
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

// placeBoxes stacks boxes of one width, which it returns.
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

// side gives each link of one side its lane, short ones inside, and returns the
// width of the gutter that holds the labels, and the number of lanes.
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
	taken := make([][]*link, 0, len(links))
	for _, l := range order {
		lo, hi := l.span()
		for l.lane < len(taken) && slices.ContainsFunc(taken[l.lane], func(o *link) bool {
			olo, ohi := o.span()
			return lo <= ohi && olo <= hi
		}) {
			l.lane++
		}
		if l.lane == len(taken) {
			taken = append(taken, nil)
		}
		taken[l.lane] = append(taken[l.lane], l)
	}
	return gutter + 6, len(taken)
}

// assignPorts gives each end of a link a row of its own in its box: what
// leads up comes above what leads down, so that wires of one box do not cross.
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
		label:  l.label, labelAt: point{x + 2, b.y + b.h}, labelW: columns(l.label), branched: l.branched,
	})
	d.width = max(d.width, x+2+columns(l.label))
}

// around draws a wire that leaves a side of one box and comes back to the same
// side of another. edge is the column of that side, dir points away from it.
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
		label:  l.label, labelAt: at, labelW: w, back: dir < 0, branched: l.branched,
	})
}

// columns is how many cells a text takes up: wide characters take two.
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
