-- Finds what is wrong with the rows of a thread, by commit; 0 for the thread itself.
WITH c AS (
	SELECT id, parent, bytes, source, same, coalesce(lag(id) OVER (ORDER BY id), 0) AS before FROM entries WHERE thread = $1
), t AS (
	SELECT *, (SELECT coalesce(max(id), 0) FROM c) AS newest, (SELECT coalesce(sum(CASE source WHEN 'input' THEN 1 WHEN 'undo' THEN -1 ELSE 0 END), 0) FROM c) AS turns, (SELECT coalesce(sum(bytes), 0) FROM c) AS size
	FROM threads WHERE id = $1
)
SELECT 0 AS at, format('the head is commit %s, the newest commit is %s', head, newest) AS problem FROM t WHERE head <> newest
UNION ALL SELECT 0, format('%s turns are counted, the log holds %s', inputs, turns) FROM t WHERE inputs <> turns
UNION ALL SELECT 0, format('%s bytes are counted, the log holds %s', bytes, size) FROM t WHERE bytes <> size
UNION ALL SELECT 0, 'the list has another status or time than the head' FROM t JOIN entries e ON e.thread = t.id AND e.id = t.head WHERE (t.status, t.touched) <> (e.status, e.time)
UNION ALL SELECT id, format('its parent is commit %s, the commit before it is %s', parent, before) FROM c WHERE parent <> before
UNION ALL SELECT id, 'its run is missing' FROM c WHERE before = 0 AND same
ORDER BY 1, 2
