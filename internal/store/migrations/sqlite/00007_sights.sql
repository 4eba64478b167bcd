-- +goose Up
-- A snapshot that was set aside as older than what is known: the status that it
-- tells of, or '', and since when nothing else is heard.
ALTER TABLE task ADD COLUMN doubt TEXT NOT NULL DEFAULT '';
ALTER TABLE task ADD COLUMN doubt_us BIGINT;
-- A messageId names one message.
CREATE INDEX command_message ON command (agent_id, message_id);

-- +goose Down
DROP INDEX command_message;
ALTER TABLE task DROP COLUMN doubt_us;
ALTER TABLE task DROP COLUMN doubt;
