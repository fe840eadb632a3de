CREATE SEQUENCE commit_ids;

CREATE TABLE threads(
	id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name    text COLLATE "C" NOT NULL UNIQUE,
	created timestamptz NOT NULL DEFAULT clock_timestamp(),
	head    bigint NOT NULL DEFAULT 0,   -- newest commit; 0 before the first
	inputs  bigint NOT NULL DEFAULT 0,   -- commits that are inputs, less those that took one back
	bytes   bigint NOT NULL DEFAULT 0,   -- of the bodies of its deltas
	token   bigint NOT NULL DEFAULT 0,   -- of the newest lease
	claim   bigint NOT NULL DEFAULT 0,   -- random number of the Acquire that got the lease
	owner   text NOT NULL DEFAULT '',    -- of the lease
	ttl     interval NOT NULL DEFAULT '0',
	until   timestamptz,                 -- end of the lease; NULL when released
	waited  boolean NOT NULL DEFAULT false -- somebody waits for the lease
) WITH (fillfactor = 50);                -- room for updates in place

CREATE TABLE commits(
	thread   bigint NOT NULL,
	id       bigint NOT NULL,            -- grows over all threads
	parent   bigint NOT NULL,            -- the commit before; 0 for the first
	nonce    bigint NOT NULL,            -- random; recognises a commit whose answer was lost
	step     integer NOT NULL,
	bytes    integer NOT NULL,           -- of the bodies of its deltas
	time     timestamptz NOT NULL,
	run      text COLLATE "C" NOT NULL,
	source   text NOT NULL,
	status   text NOT NULL,
	graph    text NOT NULL,              -- fingerprint of the graph
	frontier text[],
	error    text,
	PRIMARY KEY (thread, id)
);
CREATE INDEX commits_run ON commits(run);

CREATE TABLE deltas(
	thread bigint NOT NULL,
	at     bigint NOT NULL,              -- commit
	n      integer NOT NULL,             -- position within the commit
	rank   integer NOT NULL,
	path   text NOT NULL,
	node   text NOT NULL,
	body   text,                         -- JSON
	error  text,
	notes  text,                         -- JSON
	PRIMARY KEY (thread, at, n)
);

CREATE TABLE snapshots(
	thread bigint NOT NULL,
	at     bigint NOT NULL,              -- commit
	body   bytea NOT NULL,               -- the state as JSON, deflated
	PRIMARY KEY (thread, at)
);
ALTER TABLE snapshots ALTER body SET STORAGE EXTERNAL;

CREATE TABLE pending(
	id      bigint GENERATED ALWAYS AS IDENTITY,
	thread  bigint NOT NULL,
	run     text NOT NULL,
	step    integer NOT NULL,
	attempt integer NOT NULL,
	rank    integer NOT NULL,
	path    text NOT NULL,
	node    text NOT NULL,
	body    text,
	error   text,
	notes   text,
	UNIQUE (thread, run, step, rank, path, node, attempt)
);

CREATE FUNCTION readable(body text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
	RETURN body::jsonb;
EXCEPTION WHEN OTHERS THEN -- jsonb has no NUL and no half of a surrogate
	RETURN regexp_replace(body, '\\u(0000|[dD][89a-fA-F]..)', '\\ufffd', 'g')::jsonb;
END $$;

CREATE VIEW log AS
SELECT t.name AS thread, c.id AS commit_id, d.n, c.step, c.source, c.status, c.run, d.path, d.node, d.rank,
	readable(d.body) AS body, coalesce(d.error, '') AS error, c.time
FROM threads t JOIN commits c ON c.thread = t.id JOIN deltas d ON d.thread = c.thread AND d.at = c.id;
