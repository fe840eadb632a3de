package threads

// Views returns SQL views that make the database of threads readable: messages and
// summaries. They show the whole history, because the log has it.
func Views() []string {
	return []string{
		// A message that a summary removed from the live state stays in the history. A
		// message that was removed without a summary, or replaced, does not. Those of a subgraph are its own.
		`CREATE VIEW messages(thread, seq, id, role, content, time, run) AS
WITH ops AS (
	SELECT l.thread, l.commit_id, l.n, op.key AS k, l.time, l.run,
		coalesce(json_extract(op.value, '$.put.id'), json_extract(op.value, '$.remove')) AS id,
		json_extract(op.value, '$.put.role') AS role,
		json_extract(op.value, '$.put.content') AS content
	FROM log l, json_each(l.body, '$.messages') op
	WHERE l.error = '' AND l.path = '' AND (json_type(op.value, '$.put') = 'object' OR json_type(l.body, '$.summary') IS NULL)
), ranked AS (
	SELECT *,
		row_number() OVER (PARTITION BY thread, id ORDER BY commit_id DESC, n DESC, k DESC) AS newest,
		first_value(commit_id) OVER oldest AS c, first_value(n) OVER oldest AS d, first_value(k) OVER oldest AS o
	FROM ops
	WINDOW oldest AS (PARTITION BY thread, id ORDER BY commit_id, n, k)
)
SELECT thread, row_number() OVER (PARTITION BY thread ORDER BY c, d, o) AS seq, id, role, content, time, run
FROM ranked WHERE newest = 1 AND role IS NOT NULL
ORDER BY thread, seq`,
		`CREATE VIEW summaries(thread, seq, summary, time, run) AS
SELECT l.thread, row_number() OVER (PARTITION BY l.thread ORDER BY l.commit_id) AS seq, json_extract(l.body, '$.summary') AS summary, l.time, l.run
FROM log l WHERE l.error = '' AND l.path = '' AND json_type(l.body, '$.summary') IS NOT NULL
ORDER BY thread, seq`,
	}
}
