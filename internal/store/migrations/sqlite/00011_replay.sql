-- +goose Up
-- What an observation was taken in with, so that the ledger can be replayed: its
-- number in the task, the next place in the timeline, the command that answered the
-- open question, and whether it was made after that answer had got there.
ALTER TABLE event ADD COLUMN number BIGINT NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN seq BIGINT NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN answered_by TEXT NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN after_answer BOOLEAN NOT NULL DEFAULT FALSE;
-- Whether a message came here with a task that turned out to be this one.
ALTER TABLE message ADD COLUMN merged BOOLEAN NOT NULL DEFAULT FALSE;
DROP TRIGGER event_no_update;
UPDATE event SET number = o.number FROM (
    SELECT id, ROW_NUMBER() OVER (PARTITION BY task_id ORDER BY id) AS number FROM event) o
WHERE o.id = event.id;
-- +goose StatementBegin
CREATE TRIGGER event_no_update BEFORE UPDATE ON event BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
-- +goose StatementEnd
CREATE UNIQUE INDEX event_number ON event (task_id, number);

-- +goose Down
DROP INDEX event_number;
ALTER TABLE message DROP COLUMN merged;
ALTER TABLE event DROP COLUMN after_answer;
ALTER TABLE event DROP COLUMN answered_by;
ALTER TABLE event DROP COLUMN seq;
ALTER TABLE event DROP COLUMN number;
