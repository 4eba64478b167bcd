-- +goose Up
-- What becomes of commands whose outcome was not known.
ALTER TABLE command ADD COLUMN confirmed_us BIGINT;                         -- when the agent showed that it has it
ALTER TABLE command ADD COLUMN resends BIGINT NOT NULL DEFAULT 0;           -- how often a person had it sent again
ALTER TABLE command ADD COLUMN resent_by TEXT NOT NULL DEFAULT '';          -- the last of them
ALTER TABLE command ADD COLUMN resent_by_name TEXT NOT NULL DEFAULT '';
ALTER TABLE command ADD COLUMN resent_us BIGINT;
CREATE INDEX command_uncertain ON command (task_id) WHERE status = 'uncertain';
DROP TRIGGER command_states;
-- A settled command stays settled, but for one that is uncertain: the agent may
-- show that it has it, and a person may decide to send it again.
-- +goose StatementBegin
CREATE TRIGGER command_states BEFORE UPDATE OF status ON command
WHEN NOT (OLD.status = NEW.status
    OR (OLD.status = 'pending' AND NEW.status IN ('dispatching'))
    OR (OLD.status = 'dispatching' AND NEW.status IN ('pending', 'succeeded', 'failed', 'uncertain'))
    OR (OLD.status = 'uncertain' AND NEW.status = 'succeeded' AND NEW.confirmed_us IS NOT NULL)
    OR (OLD.status = 'uncertain' AND NEW.status = 'pending' AND NEW.resends = OLD.resends + 1))
BEGIN
    SELECT RAISE(ABORT, 'no such change of a command''s status');
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER command_states;
-- +goose StatementBegin
CREATE TRIGGER command_states BEFORE UPDATE OF status ON command
WHEN NOT (OLD.status = NEW.status
    OR (OLD.status = 'pending' AND NEW.status IN ('dispatching'))
    OR (OLD.status = 'dispatching' AND NEW.status IN ('pending', 'succeeded', 'failed', 'uncertain')))
BEGIN
    SELECT RAISE(ABORT, 'no such change of a command''s status');
END;
-- +goose StatementEnd
DROP INDEX command_uncertain;
ALTER TABLE command DROP COLUMN resent_us;
ALTER TABLE command DROP COLUMN resent_by_name;
ALTER TABLE command DROP COLUMN resent_by;
ALTER TABLE command DROP COLUMN resends;
ALTER TABLE command DROP COLUMN confirmed_us;
