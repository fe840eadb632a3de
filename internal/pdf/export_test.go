package pdf

import "context"

// Grid is the cells of a table of a PDF before its header is joined.
type Grid []GridCell

// GridCell is a cell with the first and the last of the rows and columns that it covers.
type GridCell struct {
	Text                             string
	Row, LastRow, Column, LastColumn int
}

// Grids returns the tables of each page of a PDF.
func Grids(ctx context.Context, data []byte) ([][]Grid, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, err := read(ctx, data, nil)
	if err != nil {
		return nil, err
	}
	var pages [][]Grid
	for _, lines := range r.pages {
		var page []Grid
		for _, l := range lines {
			if l.table == nil {
				continue
			}
			var g Grid
			for i, r := range l.table.rows {
				for _, c := range r.cells {
					g = append(g, GridCell{c.text, i, i + c.down, c.first, c.last})
				}
			}
			page = append(page, g)
		}
		pages = append(pages, page)
	}
	return pages, nil
}

// Engine returns the engine that all documents are read with.
func Engine() any {
	pool, _ := engine()
	return pool
}
