-- Appends a commit: checks lease and parent, moves the head, and saves the commit with its
-- deltas and its snapshot, in one statement. It returns no row if the lease or the parent
-- is not that of the thread. Argument 24 is the id of the commit; NULL: the next one.
WITH held AS (
	UPDATE threads SET head = coalesce($24, nextval('commit_ids')), inputs = inputs + $4, bytes = bytes + $5,
		until = CASE WHEN $6 THEN NULL ELSE clock_timestamp() + ttl END, owner = CASE WHEN $6 THEN '' ELSE owner END
	WHERE name = $1 AND token = $2 AND until IS NOT NULL AND head = $3
	RETURNING id, head, waited AND until IS NULL AS notify
), saved AS (
	INSERT INTO commits(thread, id, parent, nonce, step, bytes, time, run, source, status, graph, frontier, error)
	SELECT id, head, $3, $7, $8, $5, $9, $10, $11, $12, $13, $14, $15 FROM held
), changed AS (
	INSERT INTO deltas(thread, at, n, rank, path, node, body, error, notes)
	SELECT held.id, held.head, d.n - 1, d.rank, d.path, d.node, d.body, d.error, d.notes
	FROM held, unnest($16::int[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[])
		WITH ORDINALITY AS d(rank, path, node, body, error, notes, n)
), kept AS (
	INSERT INTO snapshots(thread, at, body) SELECT id, head, $22 FROM held WHERE $22::bytea IS NOT NULL
), dropped AS (
	DELETE FROM pending USING held WHERE pending.thread = held.id AND NOT $23
)
SELECT head, CASE WHEN notify THEN pg_notify('ragflow_released', id::text)::text END FROM held
