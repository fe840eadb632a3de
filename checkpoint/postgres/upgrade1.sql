-- Carries tables of version 1 over, after schema.sql has made those that it lacked. Version 1
-- had a table for commits, one for their deltas and one for their snapshots.
ALTER TABLE meta DROP CONSTRAINT meta_pkey;

ALTER TABLE threads
	ADD same boolean NOT NULL DEFAULT false,
	ADD run text COLLATE "C",
	ADD graph text;

-- A body with white space around it would lose that as a part of JSON.
CREATE FUNCTION change(rank integer, path text, node text, body text, error text, notes text) RETURNS text LANGUAGE sql AS $$
	SELECT concat('{"rank":', rank, ',"path":', to_json(path), ',"node":', to_json(node),
		CASE WHEN body = btrim(body, E' \t\r\n') THEN ',"body":' || body ELSE ',"text":' || to_json(body)::text END,
		',"error":' || to_json(error)::text, ',"notes":' || notes, '}')
$$;

LOCK TABLE commits, deltas, snapshots, pending;
INSERT INTO entries
SELECT c.id, c.parent, c.thread, c.time, (c.nonce & 2147483647)::integer, c.step, c.bytes, c.source, c.status,
	same, CASE WHEN same THEN '' ELSE c.run END, CASE WHEN same THEN '' ELSE c.graph END,
	coalesce(to_json(c.frontier)::text, ''), coalesce(c.error, ''),
	coalesce((SELECT '[' || string_agg(change(rank, path, node, d.body, d.error, notes), ',' ORDER BY n) || ']'
		FROM deltas d WHERE d.thread = c.thread AND d.at = c.id), ''),
	coalesce(s.body, '')
FROM (
	SELECT *, coalesce(step % 16 <> 0 AND run = lag(run) OVER w AND graph = lag(graph) OVER w, false) AS same
	FROM commits WINDOW w AS (PARTITION BY thread ORDER BY id)
) c LEFT JOIN snapshots s ON s.thread = c.thread AND s.at = c.id
ORDER BY c.id;

ALTER TABLE pending ALTER id DROP IDENTITY, ALTER id SET DEFAULT nextval('commit_ids'), ADD changes text;
SELECT setval('commit_ids', greatest(nextval('commit_ids'), (SELECT max(id) + 1 FROM pending)));
UPDATE pending SET changes = '[' || change(rank, path, node, body, error, notes) || ']';
ALTER TABLE pending ALTER changes SET NOT NULL, DROP body, DROP error, DROP notes;

DROP FUNCTION change;
DROP TABLE commits, deltas, snapshots;
