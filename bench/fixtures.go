package main

import (
	"context"
	"fmt"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
)

// benchAgent is the ID of an agent whose tasks are put into the database.
const benchAgent = "01900000-0000-7000-8000-000000000000"

// insertAgent makes an agent that nobody asks for its card.
const insertAgent = `INSERT INTO agent (id, organisation_id, card_url, name, health_status, refresh_us, created_us, updated_us)
	VALUES (?, ?, 'http://127.0.0.1:9/card.json', 'Bench', 'unknown', 4000000000000000, 1, 1)`

// series is the rows i = from … to, in the SQL of both databases.
func series(from, to int) string {
	return fmt.Sprintf("WITH RECURSIVE s(i) AS (SELECT CAST(%d AS BIGINT) UNION ALL SELECT i + 1 FROM s WHERE i < %d) ", from, to)
}

// numberedID is an SQL expression: the IDs of one kind, by a number.
func numberedID(kind int, number string) string {
	return fmt.Sprintf("'01900000-0000-7000-%04d-' || substr(CAST(1000000000000 + %s AS TEXT), 2)", 8000+kind, number)
}

// history makes the statements that put n events on a task, as if they had been
// taken in one by one: half are messages, half pieces of one artifact.
func history(kind int, taskID string, n int) []string {
	return []string{
		series(1, n) + fmt.Sprintf(`INSERT INTO event (id, task_id, source, source_key, raw, sha256, received_us, number, seq)
			SELECT %s, '%s', 'stream', 'before/' || CAST(i AS TEXT),
				'{"statusUpdate":{"taskId":"remote","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}', '%064d', i, i, i FROM s`,
			numberedID(kind, "i"), taskID, 0),
		series(1, (n+1)/2) + fmt.Sprintf(`INSERT INTO message (task_id, seq, version, message_id, role, parts, sha256, search, at_us)
			SELECT '%s', 2 * i, 2 * i, 'before-' || CAST(i AS TEXT), 'agent', '[{"text":"Step of the work is done."}]', '%064d', 'step of the work is done.', i FROM s`,
			taskID, 0),
		fmt.Sprintf(`INSERT INTO artifact (task_id, seq, version, artifact_id, name, description, complete, appended, next_part, at_us)
			VALUES ('%s', 1, %d, 'report', 'Report', '', FALSE, TRUE, %d, 1)`, taskID, n, n/2),
		series(1, max(n/2, 1)) + fmt.Sprintf(`INSERT INTO artifact_part (task_id, artifact_id, part, parts)
			SELECT '%s', 'report', i, '[{"text":"And so on, and so forth. "}]' FROM s`, taskID),
		fmt.Sprintf(`UPDATE task SET next_seq = %d, version = %d, ledger_events = %d, ledger_bytes = %d WHERE id = '%s'`, n+2, n+2, n, n*200, taskID),
	}
}

// What a long record is like.
const (
	listAgents = 20                       // of which the last one has one task in a thousand
	listYears  = 5 * 365 * 24 * time.Hour // from the first task to the last
	fillChunk  = 100_000                  // rows of one statement
)

// fillTasks puts n tasks into the database, of the past years, one message each.
// Of a thousand, one waits for a person, ten have failed, and the rest has ended
// well; every 100,000th was rejected.
func fillTasks(ctx context.Context, at place, n int) error {
	now := time.Now().UnixMicro()
	apart := max(listYears.Microseconds()/int64(n), 1)
	statements := []string{series(0, listAgents-1) + fmt.Sprintf(
		`INSERT INTO agent (id, organisation_id, card_url, name, health_status, refresh_us, created_us, updated_us)
		SELECT %s, '%s', 'http://127.0.0.1:9/' || CAST(i AS TEXT), 'Agent ' || CAST(i AS TEXT), 'unknown', 4000000000000000, 1, 1 FROM s`,
		numberedID(0, "i"), access.LocalOrganisation)}
	for from := 1; from <= n; from += fillChunk {
		to := min(from+fillChunk-1, n)
		updated := fmt.Sprintf("%d - (%d - i) * %d", now, n, apart)
		title := "CASE WHEN i = 1 THEN 'Find the needle' ELSE 'Deploy service ' || CAST(i % 997 AS TEXT) || ' to region ' || CAST(i % 7 AS TEXT) END"
		statements = append(statements,
			series(from, to)+fmt.Sprintf(`INSERT INTO task (id, organisation_id, agent_id, remote_task_id, context_id, kind, state, needs_you,
				title, title_search, next_seq, version, observed_us, created_us, updated_us)
				SELECT %s, '%s', %s, 'remote-' || CAST(i AS TEXT), 'c', 'task',
					CASE WHEN i %% 1000 = 1 THEN 'TASK_STATE_INPUT_REQUIRED' WHEN i %% 100 = 2 THEN 'TASK_STATE_FAILED'
						WHEN i %% 100000 = 5 THEN 'TASK_STATE_REJECTED' ELSE 'TASK_STATE_COMPLETED' END,
					i %% 1000 = 1, %s, lower(%s), 2, 2, %s, %s, %s FROM s`,
				numberedID(1, "i"), access.LocalOrganisation, numberedID(0, fmt.Sprintf("CASE WHEN i %% 1000 = 0 THEN %d ELSE i %% %d END", listAgents-1, listAgents-1)),
				title, title, updated, updated, updated),
			series(from, to)+fmt.Sprintf(`INSERT INTO message (task_id, seq, version, message_id, role, parts, sha256, search, at_us)
				SELECT %s, 1, 1, 'message-' || CAST(i AS TEXT), 'user',
					'[{"text":"Please take build ' || CAST(i AS TEXT) || ' of the service to its region, and say when all of its replicas are healthy."}]', '%064d',
					'please take build ' || CAST(i AS TEXT) || ' of the service to its region, and say when all of its replicas are healthy.', %s FROM s`,
				numberedID(1, "i"), 0, updated))
	}
	return at.fill(ctx, statements...)
}
