package source

// Block is a block of Markdown. Images are their texts, and HTML is text like any other.
type Block struct {
	Kind     string // paragraph, heading, code, quote, list, item, table or rule
	Level    int    // of a heading: 1 to 6
	Ordered  bool   // a list with numbers
	Start    int    // the number of the first item of an ordered list
	Language string // of code; "" if it is not said
	Spans    []Span // of a paragraph, a heading and code; lines of code end with a line feed
	Blocks   []Block
	Table    *Table
}

// Span is a piece of text in one style.
type Span struct {
	Text     string // a line feed is a line break
	Marked   bool   // it belongs to the passage
	Strong   bool
	Emphasis bool
	Code     bool
	Address  string // of a link: http, https or mailto, to be shown beside Text; "" for others
}

// Table is a table, or the rows of one around a passage.
type Table struct {
	Caption string   // the heading above it, such as the name of a sheet; "" without one
	Columns []string // their names; "" for a column without a name
	Rows    []Row
	Before  bool // there are more rows above
	After   bool // there are more rows below
}

// Row is a row of a table. It has a cell for each column.
type Row struct {
	Number int // of its line in the file, or of its row in the sheet; 0 if it has none
	Cells  [][]Span
	Marked bool // the passage has a part of it
}

// Mail is a mail of a document.
type Mail struct {
	Fields      []Field  // From, To, Cc, Date and Subject, those that there are, in this order
	Attachments []string // names of the attached files
	Body        *Lines   // behind the head; Before and After count lines of this mail
}

// Field is a line of the head of a mail.
type Field struct {
	Name  string
	Value []Segment
}
