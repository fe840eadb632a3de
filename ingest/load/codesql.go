package load

import (
	"regexp"
	"strings"
)

// sqlIdent is a name of SQL, with the schema it stands in.
const sqlIdent = "(?:[\\w\\pL$#@]+|\"[^\"]+\"|`[^`]+`|\\[[^\\]]+\\])"

var (
	sqlHead = regexp.MustCompile(`(?i)^create\s+(?:(?:or\s+(?:replace|alter)|temp|temporary|global|local|unlogged|materialized|unique|fulltext|spatial|` +
		`(?:non)?clustered|columnstore|virtual|external|foreign|recursive|constraint|(?:non)?editionable|aggregate|` +
		`definer\s*=\s*\S+|algorithm\s*=\s*\w+|sql\s+security\s+\w+)\s+)*` +
		`(table|view|index|trigger|function|procedure|package(?:\s+body)?|event|type(?:\s+body)?|domain|schema)\s+` +
		`(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?(` + sqlIdent + `(?:\s*\.\s*` + sqlIdent + `)*)`)
	sqlDelimiter = regexp.MustCompile(`(?i)^delimiter[ \t]+(\S+)[ \t\r]*(?:\n|$)`)
	sqlBatch     = regexp.MustCompile(`(?i)^(?:go|/)[ \t\r]*(?:\n|$)`)
	sqlCopy      = regexp.MustCompile(`(?is)^copy\s.*\sfrom\s+stdin\b`)
	sqlDollar    = regexp.MustCompile(`^\$(?:[A-Za-z_]\w*)?\$`)
	sqlScript    = regexp.MustCompile(`(?im)^delimiter[ \t]`)
	sqlPostgres  = regexp.MustCompile(`(?i)\b(?:as|do)\s+\$\w*\$`)
	sqlMine      = regexp.MustCompile("(?i)`|\\bengine\\s*=")
)

// sqlKinds are what statements declare.
//
//nolint:gochecknoglobals // a table
var sqlKinds = map[string]string{
	"table": declTable, "view": declView, "index": declIndex, "trigger": declTrigger, "event": declTrigger,
	"function": declFunction, "procedure": declFunction, "package": declModule, "package body": declModule,
	"type": declType, "type body": declType, "domain": declType, "schema": declModule,
}

// isMySQL tells the dialect in which a backslash escapes a quote, # begins a
// comment, and dollars quote nothing.
func isMySQL(s string) bool {
	return sqlScript.MatchString(s) || sqlMine.MatchString(s) && !sqlPostgres.MatchString(s)
}

// sqlParser parts a script into statements. Dialects differ in how they hold
// several statements together, and none is told: dollar quotes, BEGIN and END,
// another delimiter, and lines that say GO or / are all understood.
type sqlParser struct {
	*scanner
	part      span
	delimiter string
	fresh     bool // nothing but blanks on the line so far
	lead      int  // where the comments above a statement begin; -1: there are none
	statement sqlStatement
	out       []declaration
}

// sqlStatement is the statement under way.
type sqlStatement struct {
	begin    int    // of its first word; -1: it has none yet
	code     int    // end of what was read of it, without comments
	routine  bool   // may hold statements
	function bool   // is a function or procedure
	holder   bool   // holds routines
	begun    bool   // what a function does has begun
	pending  bool   // the variables of a routine come first, then BEGIN
	blocks   int    // that are open
	brackets int    // that are open
	word     string // the last one
}

// sqlDeclarations finds the tables, views, functions and the like that a script
// creates.
func (x *scanner) sqlDeclarations(part span) []declaration {
	p := &sqlParser{scanner: x, part: part, delimiter: ";", fresh: true, lead: -1, statement: sqlStatement{begin: -1}}
	for at := part.start; at < part.end; {
		if x.s[at] == '\n' {
			if p.statement.begin < 0 && p.fresh {
				p.lead = -1 // a blank line
			}
			p.fresh = true
			at++
			continue
		}
		if n := blankLength(x.s[at:part.end]); n > 0 {
			at += n
			continue
		}
		if p.fresh {
			if next, ok := p.line(at); ok {
				at = next
				continue
			}
		}
		at = p.token(at)
	}
	p.finish()
	return p.out
}

// line treats lines that are for the program that reads the script, and those
// that end a statement which nothing else ends. It returns where to go on, and
// false where the line is an ordinary one.
func (p *sqlParser) line(at int) (int, bool) {
	end := min(lineEnd(p.s, at), p.part.end)
	s := p.s[at:end]
	delimiter := sqlDelimiter.FindStringSubmatch(s)
	left := at == p.part.start || p.s[at-1] == '\n'
	creates := left && p.delimiter == ";" && len(s) > 6 && strings.EqualFold(s[:6], "create") && !isWord(s[6])
	switch under := p.statement.begin >= 0; {
	case under && (delimiter != nil || creates || sqlBatch.MatchString(s)):
		return p.finish(), true // what stands between belongs to the next one
	case under:
		return at, false
	case delimiter != nil:
		p.delimiter = delimiter[1]
	case s[0] != '\\' && !sqlBatch.MatchString(s):
		return at, false
	}
	if n := len(p.out); n > 0 && delimiter == nil && s[0] != '\\' && isBlank(p.s[p.out[n-1].end:at]) {
		p.out[n-1].end = end // it ends what stands above
	}
	p.lead = -1
	return end, true
}

// token reads a comment, a string, a word or a sign of a statement and returns
// its end.
func (p *sqlParser) token(at int) int {
	end, comment := p.skip(at, p.part.end)
	if comment {
		if p.statement.begin < 0 && p.fresh && p.lead < 0 {
			p.lead = max(lineStart(p.s, at), p.part.start)
		}
		p.fresh = false
		return end
	}
	p.fresh = false
	if strings.HasPrefix(p.s[at:p.part.end], p.delimiter) {
		return p.delimit(at + len(p.delimiter))
	}
	if p.statement.begin < 0 {
		p.start(at)
	}
	st := &p.statement
	switch {
	case end > at:
		st.word = ""
	case !isWord(p.s[at]):
		end = at + 1
		switch p.s[at] {
		case '(':
			st.brackets++
		case ')':
			st.brackets = max(st.brackets-1, 0)
		}
	default:
		for end = at + 1; end < p.part.end && isWord(p.s[end]) && !strings.HasPrefix(p.s[end:], p.delimiter); end++ {
		}
		if st.routine {
			p.block(strings.ToLower(p.s[at:end]), end)
		}
	}
	st.code = end
	return end
}

// delimit ends a statement behind its delimiter, unless it is one within a
// routine.
func (p *sqlParser) delimit(at int) int {
	st := &p.statement
	if st.begin < 0 {
		p.lead = -1
		return at
	}
	st.code = at
	if p.delimiter == ";" && st.routine && (st.blocks > 0 || st.pending || st.holder) {
		return at
	}
	if sqlCopy.MatchString(p.s[st.begin:min(at, st.begin+maxHead)]) { // rows follow
		if closes := p.closing(`\.`, at, false); closes >= 0 && closes < p.part.end {
			st.code = closes + len(`\.`)
		}
	}
	return p.finish()
}

// start begins a statement.
func (p *sqlParser) start(at int) {
	p.statement = sqlStatement{begin: at, code: at}
	d, st := p.head(), &p.statement
	st.function = d.kind == declFunction
	st.holder = strings.HasPrefix(d.label, "package") || strings.HasPrefix(d.label, "type body")
	st.routine = st.function || st.holder || d.kind == declTrigger
}

// head tells what the statement under way declares.
func (p *sqlParser) head() declaration {
	m := sqlHead.FindStringSubmatch(p.s[p.statement.begin:min(p.part.end, p.statement.begin+maxHead)])
	if m == nil || strings.EqualFold(m[2], "on") { // an index without a name
		return declaration{}
	}
	word := strings.ToLower(strings.Join(strings.Fields(m[1]), " "))
	name := strings.Join(strings.Fields(strings.NewReplacer(`"`, "", "`", "", "[", "", "]", "").Replace(m[2])), "")
	return declaration{kind: sqlKinds[word], name: name, label: word + " " + name}
}

// block counts the blocks of a routine that are open.
func (p *sqlParser) block(word string, end int) {
	st := &p.statement
	before := st.word
	st.word = word
	next := strings.ToLower(sqlWord.FindString(strings.TrimLeft(p.s[end:min(p.part.end, end+64)], blank)))
	switch word {
	case "begin":
		if next != "tran" && next != "transaction" && next != "work" {
			st.blocks, st.pending, st.begun = st.blocks+1, false, true
		}
	case "select", "return":
		st.begun = true
	case "case":
		if before != "end" {
			st.blocks++
		}
	case "end":
		if next != "if" && next != "loop" && next != "while" && next != "repeat" && next != "for" {
			st.blocks = max(st.blocks-1, 0)
		}
	case "declare":
		st.pending = !st.begun
	case "is", "as":
		if st.function && !st.begun && st.brackets == 0 && next != "" && !sqlBodies[next] {
			st.pending = true
		}
	}
}

var sqlWord = regexp.MustCompile(`^\w+`)

// sqlBodies are words that what a routine does begins with. Others declare a
// variable of it.
//
//nolint:gochecknoglobals // a table
var sqlBodies = set(`begin select return insert update delete with table language external set exec execute values merge if null not row`)

// finish ends the statement under way behind what was read of it, and returns
// that end, which is that of its line where nothing but a comment follows.
func (p *sqlParser) finish() int {
	st := p.statement
	if st.begin < 0 {
		return p.part.end
	}
	d := p.head()
	d.start, d.end = p.lead, st.code
	if line := min(lineEnd(p.s, d.end), p.part.end); strings.HasPrefix(strings.TrimLeft(p.s[d.end:line], blank), "--") {
		d.end = line
	} else {
		d.end = min(restOfLine(p.s, d.end), p.part.end)
	}
	if d.start < 0 {
		d.start = max(lineStart(p.s, st.begin), p.part.start)
	}
	if d.kind != "" {
		p.out = append(p.out, d)
	}
	p.statement, p.lead = sqlStatement{begin: -1}, -1
	p.fresh = p.s[d.end-1] == '\n'
	return d.end
}

// skipSQL is skip for SQL.
func (x *scanner) skipSQL(at, to int) (end int, comment bool) {
	s, mine := x.s[at:to], !x.nested
	const most = 64 // words between dollars that nothing closes
	switch c := s[0]; {
	case strings.HasPrefix(s, "--"), c == '#' && mine:
		return at + length(s, strings.IndexByte(s, '\n')), true
	case strings.HasPrefix(s, "/*"):
		return at + x.blockComment(s), true
	case (c == '\'' || c == '"') && mine, c == '\'' && at > 0 && x.s[at-1]|0x20 == 'e' && (at < 2 || !isWord(x.s[at-2])):
		return at + x.closed(at, s, s[:1], func(s string) int { return quoted(s, s[:1]) }), false
	case c == '\'', c == '"', c == '`':
		return at + x.closed(at, s, s[:1], literal), false
	case c == '$' && !mine && !x.inWord(at) && len(x.vain) < most:
		if tag := sqlDollar.FindString(s[:min(len(s), most)]); tag != "" {
			return at + x.closed(at, s, tag, func(s string) int {
				if i := strings.Index(s[len(tag):], tag); i >= 0 {
					return i + 2*len(tag)
				}
				return len(tag)
			}), false
		}
	}
	return at, false
}
