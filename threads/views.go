package threads

// Views returns SQL views that make the database of threads readable: messages,
// summaries and query_logs. They show the whole history, because the log has it.
func Views() []string {
	return []string{
		// A message that a summary removed from the live state stays in the history. A
		// message that was removed without a summary, or replaced, does not.
		`CREATE VIEW messages(thread, seq, id, role, content, time, run) AS
WITH ops AS (
	SELECT l.thread, l.commit_id, l.n, op.key AS k, l.time, l.run,
		coalesce(json_extract(op.value, '$.put.id'), json_extract(op.value, '$.remove')) AS id,
		json_extract(op.value, '$.put.role') AS role,
		json_extract(op.value, '$.put.content') AS content
	FROM log l, json_each(l.body, '$.messages') op
	WHERE l.error = '' AND (json_type(op.value, '$.put') = 'object' OR json_type(l.body, '$.summary') IS NULL)
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
FROM log l WHERE l.error = '' AND json_type(l.body, '$.summary') IS NOT NULL
ORDER BY thread, seq`,
		// One row per answered question, computed from the log. So deleted, pruned or
		// encrypted records are missing here too.
		`CREATE VIEW query_logs(id, collection_id, query_text, retrieved_chunk_ids, generated_response, latency_ms, thread, time) AS
WITH rows AS MATERIALIZED (
	SELECT l.thread, l.run, l.commit_id, l.n, l.time, l.body FROM log l WHERE l.run <> '' AND l.error = ''
), facts AS (
	SELECT r.thread, r.run, r.commit_id, r.n, r.time,
		json_extract(r.body, '$.new_turn.query') AS question,
		CASE WHEN json_type(r.body, '$.hits') = 'array' THEN
			(SELECT json_group_array(json_extract(h.value, '$.chunk')) FROM json_each(r.body, '$.hits') h) END AS hits,
		json_extract(r.body, '$.sources[0].root') AS folder,
		json_extract(r.body, '$.answer') AS answer
	FROM rows r
), ranked AS (
	SELECT run, thread, time,
		first_value(question) OVER (PARTITION BY thread, run ORDER BY question IS NULL, commit_id DESC, n DESC) AS question,
		first_value(hits) OVER (PARTITION BY thread, run ORDER BY hits IS NULL, commit_id DESC, n DESC) AS hits,
		first_value(folder) OVER (PARTITION BY thread, run ORDER BY folder IS NULL, commit_id DESC, n DESC) AS folder,
		first_value(answer) OVER (PARTITION BY thread, run ORDER BY answer IS NULL, commit_id DESC, n DESC) AS answer
	FROM facts
)
SELECT run, coalesce(folder, ''), question, coalesce(hits, '[]'), answer,
	CAST(round((julianday(max(time)) - julianday(min(time))) * 86400000) AS INTEGER), thread, min(time)
FROM ranked WHERE answer IS NOT NULL
GROUP BY thread, run
ORDER BY min(time)`,
	}
}
