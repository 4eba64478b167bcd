-- +goose Up
-- Whether the agent's own history of the task lacked messages that it had got.
ALTER TABLE task ADD COLUMN history_lacks BOOLEAN NOT NULL DEFAULT FALSE;

-- +goose Down
ALTER TABLE task DROP COLUMN history_lacks;
