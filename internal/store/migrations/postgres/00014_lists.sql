-- +goose Up
-- One for each filter of the list of tasks, in the order of the list: else a list
-- of what is rare reads all tasks of the organisation.
CREATE INDEX task_agent_newest ON task (organisation_id, agent_id, updated_us DESC, id DESC) WHERE merged_into IS NULL;
CREATE INDEX task_state_newest ON task (organisation_id, state, updated_us DESC, id DESC) WHERE merged_into IS NULL;
CREATE INDEX task_replied ON task (organisation_id, updated_us DESC, id DESC) WHERE kind = 'message' AND merged_into IS NULL;
CREATE INDEX task_answered ON task (organisation_id, updated_us DESC, id DESC)
    WHERE state IN ('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED') AND NOT needs_you AND merged_into IS NULL;

-- +goose Down
DROP INDEX task_answered;
DROP INDEX task_replied;
DROP INDEX task_state_newest;
DROP INDEX task_agent_newest;
