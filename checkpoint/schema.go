package checkpoint

// applicationID marks the files of this store: "rfth". Files of versions before
// the first release have oldApplicationID.
const (
	applicationID    = 0x72667468
	oldApplicationID = 0x72666c54
)

// migrations are numbered by position. A released one never changes.
func migrations() []string {
	return []string{`
CREATE TABLE threads(
	id      INTEGER PRIMARY KEY,
	name    TEXT NOT NULL UNIQUE,
	created INTEGER NOT NULL,           -- microseconds since 1970
	first   INTEGER,                    -- oldest commit; NULL before the first
	head    INTEGER,                    -- newest commit; NULL before the first
	inputs  INTEGER NOT NULL DEFAULT 0, -- commits that are inputs, less those that took one back
	bytes   INTEGER NOT NULL DEFAULT 0, -- of the bodies of its deltas
	token   INTEGER NOT NULL DEFAULT 0, -- of the newest lease
	owner   TEXT NOT NULL DEFAULT '',   -- of the lease
	ttl     INTEGER NOT NULL DEFAULT 0, -- of the lease, microseconds
	until   INTEGER                     -- end of the lease; NULL when released
) STRICT;

CREATE TABLE commits(
	id       INTEGER PRIMARY KEY,       -- grows over all threads
	parent   INTEGER,                   -- the commit before; NULL for the first
	thread   INTEGER NOT NULL REFERENCES threads,
	run      TEXT NOT NULL,
	step     INTEGER NOT NULL,
	source   TEXT NOT NULL,
	status   TEXT NOT NULL,
	time     INTEGER NOT NULL,          -- microseconds since 1970
	graph    TEXT NOT NULL,             -- fingerprint of the graph
	frontier TEXT,                      -- JSON array; NULL if empty
	bytes    INTEGER NOT NULL,          -- of the bodies of its deltas
	error    ANY
) STRICT;
CREATE INDEX commits_thread ON commits(thread);
CREATE INDEX commits_run ON commits(run);

CREATE TABLE deltas(
	id       INTEGER PRIMARY KEY,
	at       INTEGER NOT NULL REFERENCES commits,
	n        INTEGER NOT NULL,          -- position within the commit
	rank     INTEGER NOT NULL,
	path     TEXT NOT NULL,
	node     TEXT NOT NULL,
	body     ANY,                       -- JSON
	error    ANY,
	start    INTEGER,                   -- nanoseconds after the time of the commit
	duration INTEGER,                   -- nanoseconds
	notes    ANY,                       -- JSON
	UNIQUE(at, n)
) STRICT;

CREATE TABLE snapshots(
	at   INTEGER PRIMARY KEY REFERENCES commits,
	body BLOB NOT NULL                  -- the state as JSON, deflated
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
	error    ANY,
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
	viewsKey      = "views"       // the texts of all views
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

// logView shows every delta of every thread; see the package comment. A condition
// on thread reads that thread only.
const logView = `CREATE VIEW log(thread, commit_id, n, step, source, status, run, path, node, rank, body, error, time) AS
SELECT t.name, c.id, d.n, c.step, c.source, c.status, c.run, d.path, d.node, d.rank,
	CASE typeof(d.body) WHEN 'text' THEN d.body END,
	CASE typeof(d.error) WHEN 'text' THEN d.error WHEN 'null' THEN '' END,
	strftime('%Y-%m-%dT%H:%M:%S', c.time / 1000000, 'unixepoch') || printf('.%06dZ', c.time % 1000000)
FROM threads t CROSS JOIN commits c ON c.thread = t.id CROSS JOIN deltas d ON d.at = c.id`
