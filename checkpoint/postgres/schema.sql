CREATE SEQUENCE commit_ids;

CREATE TABLE threads(
	id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name     text COLLATE "C" NOT NULL UNIQUE,
	owner    text COLLATE "C" NOT NULL DEFAULT '',
	title    text NOT NULL DEFAULT '',
	metadata jsonb NOT NULL DEFAULT '{}' CONSTRAINT threads_metadata_size CHECK (octet_length(metadata::text) <= 18432),
	created  timestamptz NOT NULL DEFAULT clock_timestamp(),
	touched  timestamptz NOT NULL DEFAULT clock_timestamp(), -- time of the head
	status   text NOT NULL DEFAULT '',    -- of the head
	head     bigint NOT NULL DEFAULT 0,   -- newest commit; 0 before the first
	active   bigint NOT NULL DEFAULT 0,   -- newest commit that is not a step within a run
	inputs   bigint NOT NULL DEFAULT 0,   -- commits that are inputs, less those that took one back
	bytes    bigint NOT NULL DEFAULT 0,   -- of the bodies of its deltas
	token    bigint NOT NULL DEFAULT 0,   -- of the newest lease
	claim    bigint NOT NULL DEFAULT 0,   -- random number of the Acquire that got the lease
	holder   text NOT NULL DEFAULT '',    -- of the lease
	ttl      interval NOT NULL DEFAULT '0',
	until    timestamptz,                 -- end of the lease; NULL when released
	waited   boolean NOT NULL DEFAULT false, -- somebody waits for the lease
	same     boolean NOT NULL DEFAULT false, -- as that of the head
	run      text COLLATE "C",            -- of the head; NULL when not known
	graph    text                         -- of the head; NULL when not known
) WITH (fillfactor = 50);                 -- room for updates in place
CREATE INDEX threads_active ON threads(active);
CREATE INDEX threads_owner ON threads(owner, active);
CREATE INDEX threads_made ON threads(owner, id);
CREATE INDEX threads_status ON threads(status, active) WHERE status <> 'completed';
CREATE INDEX threads_metadata ON threads USING gin(metadata jsonb_path_ops);

-- One row a commit.
CREATE TABLE entries(
	id       bigint NOT NULL,            -- grows over all threads
	parent   bigint NOT NULL,            -- the commit before; 0 for the first
	thread   bigint NOT NULL,
	time     timestamptz NOT NULL,
	nonce    integer NOT NULL,           -- random; recognises a commit whose answer was lost
	step     integer NOT NULL,
	bytes    integer NOT NULL,           -- of the bodies of its deltas
	source   text NOT NULL,
	status   text NOT NULL,
	same     boolean NOT NULL,           -- run and graph are those of the parent, and empty here
	run      text COLLATE "C" NOT NULL,
	graph    text NOT NULL,              -- fingerprint of the graph
	frontier text NOT NULL,              -- JSON; empty for none
	error    text NOT NULL,
	changes  text NOT NULL,              -- its deltas as JSON; empty for none
	text     text NOT NULL,              -- by which the thread is found, in lower case
	snapshot bytea NOT NULL,             -- the state as JSON, deflated; empty for none
	PRIMARY KEY (thread, id)
);
ALTER TABLE entries ALTER snapshot SET STORAGE EXTERNAL;
CREATE INDEX entries_run ON entries(run) WHERE NOT same;
CREATE INDEX entries_text ON entries(thread) WHERE text <> '';

CREATE TABLE pending(
	id      bigint NOT NULL DEFAULT nextval('commit_ids'),
	thread  bigint NOT NULL,
	run     text NOT NULL,
	step    integer NOT NULL,
	attempt integer NOT NULL,
	rank    integer NOT NULL,
	path    text NOT NULL,
	node    text NOT NULL,
	changes text NOT NULL,               -- as in entries, one
	UNIQUE (thread, run, step, rank, path, node, attempt)
);

CREATE FUNCTION readable(body text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
	RETURN body::jsonb;
EXCEPTION WHEN OTHERS THEN -- jsonb has no NUL and no half of a surrogate
	RETURN regexp_replace(body, '\\u(0000|[dD][89a-fA-F]..)', '\\ufffd', 'g')::jsonb;
END $$;

CREATE VIEW history AS
SELECT e.thread, e.id, e.parent, e.time, e.step, e.source, e.status, r.run, r.graph, e.frontier, e.error, e.changes
FROM entries e CROSS JOIN LATERAL (
	SELECT run, graph FROM entries p WHERE p.thread = e.thread AND p.id <= e.id AND NOT p.same ORDER BY p.id DESC LIMIT 1
) r;

CREATE VIEW log AS
SELECT t.name AS thread, h.id AS commit_id, (d.n - 1)::integer AS n, h.step, h.source, h.status, h.run,
	coalesce(d.change ->> 'path', '') AS path, coalesce(d.change ->> 'node', '') AS node, coalesce((d.change ->> 'rank')::integer, 0) AS rank,
	coalesce(d.change -> 'body', readable(d.change ->> 'text')) AS body, coalesce(d.change ->> 'error', '') AS error, h.time
FROM threads t JOIN history h ON h.thread = t.id
	CROSS JOIN jsonb_array_elements(readable(nullif(h.changes, ''))) WITH ORDINALITY AS d(change, n);
