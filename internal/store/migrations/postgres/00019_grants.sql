-- +goose Up
-- What somebody sees is looked up for each task in the order of the list: by the agent,
-- and not through all grants of the organisation.
CREATE INDEX access_grant_agent ON access_grant (organisation_id, agent_id, skill_id);
DROP INDEX access_grant_organisation;

-- +goose Down
CREATE INDEX access_grant_organisation ON access_grant (organisation_id);
DROP INDEX access_grant_agent;
