package checkpoint

// applicationID marks the files of this store: "rfth".
const applicationID = 0x72667468

// migrations are numbered by position. A released one never changes.
func migrations() []string {
	return []string{`
CREATE TABLE threads(
	id       INTEGER PRIMARY KEY,
	name     TEXT NOT NULL UNIQUE,
	owner    TEXT NOT NULL DEFAULT '',
	facts    ANY,                        -- title and metadata as JSON
	created  INTEGER NOT NULL,           -- microseconds since 1970
	touched  INTEGER,                    -- time of the head
	status   TEXT,                       -- of the head
	first    INTEGER,                    -- oldest commit; NULL before the first
	head     INTEGER,                    -- newest commit; NULL before the first
	active   INTEGER,                    -- newest commit that is not a step within a run
	inputs   INTEGER NOT NULL DEFAULT 0, -- commits that are inputs, less those that took one back
	bytes    INTEGER NOT NULL DEFAULT 0, -- of the bodies of its deltas
	token    INTEGER NOT NULL DEFAULT 0, -- of the newest lease
	holder   TEXT NOT NULL DEFAULT '',   -- of the lease
	ttl      INTEGER NOT NULL DEFAULT 0, -- of the lease, microseconds
	until    INTEGER                     -- end of the lease; NULL when released
) STRICT;
CREATE INDEX threads_active ON threads(active);
CREATE INDEX threads_owner ON threads(owner, active) WHERE owner <> '';
CREATE INDEX threads_made ON threads(owner) WHERE owner <> '';
CREATE INDEX threads_status ON threads(status, active) WHERE status <> 'completed';

CREATE TABLE tags(                       -- the metadata of threads, unless the store is encrypted
	key    TEXT NOT NULL,
	value  TEXT NOT NULL,
	thread INTEGER NOT NULL,
	PRIMARY KEY(key, value, thread)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_thread ON tags(thread);

-- What many commits have in common. Its rows never change and are never deleted.
CREATE TABLE kinds(
	id       INTEGER PRIMARY KEY,
	graph    TEXT NOT NULL,             -- fingerprint of the graph
	source   TEXT NOT NULL,
	status   TEXT NOT NULL,
	frontier TEXT NOT NULL,             -- JSON array; empty for none
	path     TEXT NOT NULL,             -- of the first delta
	node     TEXT NOT NULL,             -- of the first delta
	rank     INTEGER NOT NULL,          -- of the first delta
	UNIQUE(graph, source, status, frontier, path, node, rank)
) STRICT;

CREATE TABLE commits(
	id       INTEGER PRIMARY KEY,       -- grows over all threads
	parent   INTEGER,                   -- the commit before; NULL for the first
	thread   INTEGER NOT NULL,
	kind     INTEGER NOT NULL,
	run      TEXT,                      -- NULL: that of the parent
	step     INTEGER NOT NULL,
	time     INTEGER NOT NULL,          -- microseconds since 1970
	bytes    INTEGER NOT NULL,          -- of the bodies of its deltas
	error    ANY,
	deltas   INTEGER NOT NULL,          -- how many there are; the first one is here
	start    INTEGER,                   -- nanoseconds after time
	duration INTEGER,                   -- nanoseconds
	notes    ANY,                       -- JSON
	problem  ANY,                       -- error of the delta
	text     ANY,                       -- by which the thread is found, in lower case
	body     ANY,                       -- JSON
	snapshot BLOB                       -- the state as JSON, deflated
) STRICT;
CREATE INDEX commits_run ON commits(run) WHERE run IS NOT NULL;
CREATE INDEX commits_begin ON commits(thread) WHERE run IS NOT NULL;
CREATE INDEX commits_text ON commits(thread) WHERE text IS NOT NULL;

CREATE TABLE deltas(                    -- all but the first of a commit
	id       INTEGER PRIMARY KEY,
	at       INTEGER NOT NULL REFERENCES commits,
	n        INTEGER NOT NULL,          -- position within the commit, from 1
	rank     INTEGER NOT NULL,
	path     TEXT NOT NULL,
	node     TEXT NOT NULL,
	body     ANY,
	problem  ANY,
	start    INTEGER,
	duration INTEGER,
	notes    ANY,
	UNIQUE(at, n)
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
	body     ANY,
	problem  ANY,
	start    INTEGER,                   -- nanoseconds since 1970
	duration INTEGER,
	notes    ANY,
	UNIQUE(thread, run, step, rank, path, node, attempt)
) STRICT;

CREATE TABLE meta(
	key   TEXT PRIMARY KEY,
	value ANY NOT NULL
) STRICT, WITHOUT ROWID;
`}
}

// Keys of the table meta.
const (
	viewsKey      = "views"       // SHA-256 of the texts of all views
	lastCommitKey = "last commit" // greatest commit id of deleted threads, which is not given again
	lastTokenKey  = "last token"  // greatest lease token of deleted threads, which is not given again
	sealingKey    = "sealing"     // of an encrypted store: sealingAll or sealingSome
	keyPrefix     = "key:"        // and the id of a key: a known text, encrypted with it
)

// lastCommit is an SQL expression for the greatest commit id ever given.
const lastCommit = `max(coalesce((SELECT max(id) FROM commits), 0), coalesce((SELECT value FROM meta WHERE key = '` + lastCommitKey + `'), 0))`

// turnsOf is an SQL expression for what the commits of a query add to the turns
// of their thread.
const turnsOf = `coalesce(sum(CASE source WHEN 'input' THEN 1 WHEN 'undo' THEN -1 ELSE 0 END), 0)`

// line begins a query over the commits from one back along the parents, newest first, as far as
// they are newer than another.
const line = `WITH RECURSIVE line(id, parent) AS (
	SELECT id, parent FROM commits WHERE id = ?1 AND id > ?2
	UNION ALL
	SELECT c.id, c.parent FROM line l CROSS JOIN commits c ON c.id = l.parent WHERE c.id > ?2 AND c.id < l.id
) `

// runOf is an SQL expression for the run of a commit c.
const runOf = `(SELECT run FROM commits b WHERE b.thread = c.thread AND b.id <= c.id AND b.run IS NOT NULL ORDER BY b.id DESC LIMIT 1)`

// logView shows every delta of every thread; see the package comment. A condition
// on thread reads that thread only.
func logView() string {
	return `CREATE VIEW log(thread, commit_id, n, step, source, status, run, path, node, rank, body, error, time) AS
` + logOf(`0`, `k`, `c`, `WHERE c.deltas > 0`) + `
UNION ALL
` + logOf(`d.n`, `d`, `d`, `CROSS JOIN deltas d ON d.at = c.id`)
}

// logOf is a query of the view log: the position of a delta, the table of its names and that of the rest.
func logOf(n, names, rest, from string) string {
	return `SELECT t.name, c.id, ` + n + `, c.step, k.source, k.status, ` + runOf + `, ` + names + `.path, ` + names + `.node, ` + names + `.rank,
	CASE typeof(` + rest + `.body) WHEN 'text' THEN ` + rest + `.body END,
	CASE typeof(` + rest + `.problem) WHEN 'text' THEN ` + rest + `.problem WHEN 'null' THEN '' END,
	strftime('%Y-%m-%dT%H:%M:%S', c.time / 1000000, 'unixepoch') || printf('.%06dZ', c.time % 1000000)
FROM threads t CROSS JOIN commits c ON c.id IN (
	WITH RECURSIVE line(id) AS (SELECT t.head UNION ALL SELECT p.parent FROM line l CROSS JOIN commits p ON p.id = l.id WHERE p.parent < p.id)
	SELECT id FROM line
) CROSS JOIN kinds k ON k.id = c.kind ` + from
}
