package checkpoint

// applicationID marks the files of this store: "rflT".
const applicationID = 0x72666c54

// migrations are numbered by position; a released one never changes. doc.go
// explains the tables.
func migrations() []string {
	return []string{`
CREATE TABLE names(
	id   INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE threads(
	id      INTEGER PRIMARY KEY,
	name    TEXT NOT NULL UNIQUE,
	created INTEGER NOT NULL,           -- microseconds since 1970
	first   INTEGER,                    -- oldest commit
	head    INTEGER,                    -- newest commit; NULL before the first
	inputs  INTEGER NOT NULL DEFAULT 0, -- commits that are inputs
	bytes   INTEGER NOT NULL DEFAULT 0, -- of delta bodies as given
	token   INTEGER NOT NULL DEFAULT 0, -- of the newest lease
	owner   TEXT NOT NULL DEFAULT '',   -- of the lease
	ttl     INTEGER NOT NULL DEFAULT 0, -- of the lease, microseconds
	until   INTEGER                     -- end of the lease; NULL when released
) STRICT;

CREATE TABLE runs(
	id     INTEGER PRIMARY KEY,
	thread INTEGER NOT NULL REFERENCES threads,
	key    ANY NOT NULL,                -- 16 bytes for a UUID, else text
	last   INTEGER NOT NULL,            -- its newest commit; of the head's run, one of its commits
	UNIQUE(key, thread)
) STRICT;

CREATE TABLE commits(
	id       INTEGER PRIMARY KEY,
	parent   INTEGER,                   -- NULL for the first
	thread   INTEGER NOT NULL,
	run      INTEGER NOT NULL,
	step     INTEGER NOT NULL,
	source   INTEGER,                   -- names
	status   INTEGER,                   -- names
	time     INTEGER NOT NULL,          -- microseconds since 1970
	graph    INTEGER,                   -- names: the fingerprint
	frontier INTEGER,                   -- names: JSON array
	error    TEXT
) STRICT;

CREATE TABLE deltas(
	at       INTEGER NOT NULL,          -- commits
	n        INTEGER NOT NULL,          -- position within the commit
	rank     INTEGER NOT NULL,
	path     INTEGER,                   -- names
	node     INTEGER,                   -- names
	body     TEXT,                      -- JSON; long strings are in blobs
	error    TEXT,
	start    INTEGER,                   -- nanoseconds after the commit's time, mostly negative
	duration INTEGER,                   -- nanoseconds
	notes    TEXT,                      -- JSON, like body
	PRIMARY KEY(at, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshots(
	at   INTEGER PRIMARY KEY,           -- commits
	body BLOB NOT NULL                  -- JSON, like deltas.body, deflated
) STRICT;

CREATE TABLE pending(
	id       INTEGER PRIMARY KEY,
	thread   INTEGER NOT NULL REFERENCES threads,
	run      TEXT NOT NULL,
	step     INTEGER NOT NULL,
	attempt  INTEGER NOT NULL,
	rank     INTEGER NOT NULL,
	path     TEXT NOT NULL,
	node     TEXT NOT NULL,
	body     TEXT,
	error    TEXT,
	start    INTEGER,                   -- nanoseconds since 1970
	duration INTEGER,
	notes    TEXT,
	UNIQUE(thread, run, step, rank, path, node, attempt)
) STRICT;

CREATE TABLE blobs(
	id   INTEGER PRIMARY KEY,
	body TEXT NOT NULL
) STRICT;

CREATE TABLE blobkeys(
	hash INTEGER NOT NULL,              -- first 8 bytes of the body's SHA-256
	blob INTEGER NOT NULL,
	PRIMARY KEY(hash, blob)
) STRICT, WITHOUT ROWID;

CREATE TABLE meta(
	key   TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`, `
-- Since then runs.last of the run that a thread's head belongs to may lag behind, and
-- records may be sealed. Programs that know of neither shall not open the file.
DELETE FROM meta WHERE key = 'views';
`, `
-- The first delta of a commit stands in the commit's row, as most commits have no
-- other; where rank is NULL it has none there. What was saved before stays in deltas.
ALTER TABLE commits ADD COLUMN rank INTEGER;
ALTER TABLE commits ADD COLUMN path INTEGER;     -- names
ALTER TABLE commits ADD COLUMN node INTEGER;     -- names
ALTER TABLE commits ADD COLUMN body TEXT;        -- as in deltas
ALTER TABLE commits ADD COLUMN failure TEXT;     -- error of the delta
ALTER TABLE commits ADD COLUMN start INTEGER;
ALTER TABLE commits ADD COLUMN duration INTEGER;
ALTER TABLE commits ADD COLUMN notes TEXT;
DELETE FROM meta WHERE key = 'views';
`}
}

// The columns of a delta, as both tables that keep deltas have them: d is a
// commit's row for its first delta, else a row of deltas.
const (
	firstDelta = `0, d.rank, d.path, d.node, d.body, d.failure, d.start, d.duration, d.notes`
	otherDelta = `d.n, d.rank, d.path, d.node, d.body, d.error, d.start, d.duration, d.notes`
)

// deltasOf selects the deltas of the commits that source lists, which has their
// id and time: id, time, then the columns of a delta, in their order.
func deltasOf(source string) string {
	return `SELECT s.id, s.time, ` + firstDelta + ` FROM ` + source + ` s JOIN commits d ON d.id = s.id WHERE d.rank IS NOT NULL
	UNION ALL SELECT s.id, s.time, ` + otherDelta + ` FROM ` + source + ` s JOIN deltas d ON d.at = s.id
	ORDER BY 1, 3`
}

// runText is the id of a run r as text.
const runText = `CASE typeof(r.key) WHEN 'blob' THEN lower(
		substr(hex(r.key), 1, 8) || '-' || substr(hex(r.key), 9, 4) || '-' || substr(hex(r.key), 13, 4) || '-' ||
		substr(hex(r.key), 17, 4) || '-' || substr(hex(r.key), 21)) ELSE r.key END`

// logView is the store's own view: every delta of every thread, along the
// parents of its head. The line is computed for one thread at a time, so that
// a condition on thread costs that thread only.
func logView() string {
	return `CREATE VIEW log(thread, commit_id, n, step, source, status, run, path, node, rank, body, error, time) AS
` + logPart(`0`, `c`, `failure`, ``, `WHERE c.rank IS NOT NULL`) + `
UNION ALL
` + logPart(`d.n`, `d`, `error`, `CROSS JOIN deltas d ON d.at = c.id`, ``)
}

// logPart is the view of the deltas of one table.
func logPart(n, table, failure, join, where string) string {
	return `SELECT t.name, c.id, ` + n + `, c.step,
	coalesce((SELECT name FROM names WHERE id = c.source), ''),
	coalesce((SELECT name FROM names WHERE id = c.status), ''),
	` + runText + `,
	coalesce((SELECT name FROM names WHERE id = ` + table + `.path), ''),
	coalesce((SELECT name FROM names WHERE id = ` + table + `.node), ''),
	` + table + `.rank, ` + readable(table+`.body`) + `, coalesce(` + readable(table+`.`+failure) + `, ''),
	strftime('%Y-%m-%dT%H:%M:%S', c.time / 1000000, 'unixepoch') || printf('.%06dZ', c.time % 1000000)
FROM threads t
CROSS JOIN commits c ON c.id IN (
	WITH RECURSIVE line(id) AS (
		SELECT t.head
		UNION ALL
		SELECT k.parent FROM line JOIN commits k ON k.id = line.id WHERE k.parent IS NOT NULL
	) SELECT id FROM line)
CROSS JOIN runs r ON r.id = c.run
` + join + ` ` + where
}

// readable is an SQL expression for a text, NULL where it is sealed.
func readable(column string) string {
	return `CASE substr(` + column + `, 1, 1) WHEN char(2) THEN NULL ELSE ` + column + ` END`
}

// TextSQL returns an SQL expression for the text of expr, which extracts a
// string from a body of the view log, such as
// "json_extract(op.value, '$.put.content')". Long strings are kept beside the
// bodies; this finds them. expr is used several times and must have no effects; its
// columns must be qualified, as in l.body.
func TextSQL(expr string) string {
	return `CASE WHEN substr(` + expr + `, 1, 1) = char(1) THEN
	(SELECT CASE substr(` + expr + `, 2, 1) WHEN '=' THEN json_extract(b.body, '$') ELSE b.body END
	 FROM blobs b WHERE b.id = CAST(ltrim(substr(` + expr + `, 2), '=') AS INTEGER))
	ELSE ` + expr + ` END`
}
