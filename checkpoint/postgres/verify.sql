-- Finds what is wrong with the rows of a thread, by commit; 0 for the thread itself.
WITH c AS (
	SELECT id, parent, bytes, source, coalesce(lag(id) OVER (ORDER BY id), 0) AS before FROM commits WHERE thread = $1
), d AS (
	SELECT at, count(*) AS count, max(n) + 1 AS span, coalesce(sum(octet_length(body)), 0) AS bytes,
		bool_or(rank < before) AS disorder
	FROM (SELECT *, lag(rank) OVER (PARTITION BY at ORDER BY n) AS before FROM deltas WHERE thread = $1) x GROUP BY at
), t AS (
	SELECT *, (SELECT coalesce(max(id), 0) FROM c) AS newest, (SELECT coalesce(sum(CASE source WHEN 'input' THEN 1 WHEN 'undo' THEN -1 ELSE 0 END), 0) FROM c) AS turns, (SELECT coalesce(sum(bytes), 0) FROM c) AS size
	FROM threads WHERE id = $1
)
SELECT 0 AS at, format('the head is commit %s, the newest commit is %s', head, newest) AS problem FROM t WHERE head <> newest
UNION ALL SELECT 0, format('%s turns are counted, the log holds %s', inputs, turns) FROM t WHERE inputs <> turns
UNION ALL SELECT 0, format('%s bytes are counted, the log holds %s', bytes, size) FROM t WHERE bytes <> size
UNION ALL SELECT id, format('its parent is commit %s, the commit before it is %s', parent, before) FROM c WHERE parent <> before
UNION ALL SELECT at, 'a delta is missing' FROM d WHERE count <> span
UNION ALL SELECT at, 'its deltas are out of order' FROM d WHERE disorder
UNION ALL SELECT at, 'deltas without their commit' FROM d WHERE NOT EXISTS (SELECT FROM c WHERE c.id = d.at)
UNION ALL SELECT at, 'a snapshot without its commit' FROM snapshots s WHERE thread = $1 AND NOT EXISTS (SELECT FROM c WHERE c.id = s.at)
UNION ALL SELECT c.id, format('its updates have %s bytes, %s were saved', coalesce(d.bytes, 0), c.bytes)
	FROM c LEFT JOIN d ON d.at = c.id WHERE c.bytes <> coalesce(d.bytes, 0)
ORDER BY 1, 2
