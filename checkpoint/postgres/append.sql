-- Appends a commit: checks lease and parent, moves the head, and saves the commit, in one
-- statement. It returns no row if the lease or the parent is not that of the thread. Argument
-- 18 is the id of the commit; NULL: the next one. Run and graph are left out where they are
-- those of the parent, but not at every 16th step, so that they are found nearby.
WITH next AS MATERIALIZED (
	SELECT coalesce($18, nextval('commit_ids')) AS commit
), held AS (
	UPDATE threads SET head = commit, inputs = inputs + $4, bytes = bytes + $5, touched = $9, status = $12,
		active = CASE WHEN $11 <> 'loop' OR status <> $12 THEN commit ELSE active END,
		title = CASE title WHEN '' THEN $20 ELSE title END, metadata = metadata || coalesce($21::jsonb, '{}'),
		until = CASE WHEN $6 THEN NULL ELSE clock_timestamp() + ttl END, holder = CASE WHEN $6 THEN '' ELSE holder END,
		same = coalesce(run = $10 AND graph = $13 AND $8 % 16 <> 0, false), run = $10, graph = $13
	FROM next WHERE name = $1 AND token = $2 AND until IS NOT NULL AND head = $3
	RETURNING id, head, same, waited AND until IS NULL AS notify
), saved AS (
	INSERT INTO entries(id, parent, thread, time, nonce, step, bytes, source, status, same, run, graph, frontier, error, changes, snapshot, text)
	SELECT head, $3, id, $9, $7, $8, $5, $11, $12, same, CASE WHEN same THEN '' ELSE $10 END, CASE WHEN same THEN '' ELSE $13 END, $14, $15, $16, $17, $22
	FROM held
), dropped AS (
	DELETE FROM pending USING held WHERE pending.thread = held.id AND NOT $19
)
SELECT head, CASE WHEN notify THEN pg_notify('ragflow_released', id::text)::text END FROM held
