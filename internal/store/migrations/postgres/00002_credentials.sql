-- +goose Up
-- What Taskbay authenticates to agents with. A row is a binding: what it says
-- never changes, and it stays when it has ended, without its secret.
CREATE TABLE credential (
    id              TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL,
    agent_id        TEXT NOT NULL REFERENCES agent (id),
    kind            TEXT NOT NULL CHECK (kind IN ('bearer', 'api-key', 'basic', 'oauth2', 'mtls')),
    origins         TEXT NOT NULL,            -- where it may be sent, a JSON array
    header          TEXT NOT NULL DEFAULT '', -- that an API key goes in
    token_url       TEXT NOT NULL DEFAULT '', -- without its query
    expires_us      BIGINT,                   -- when the client certificate does
    sealed          TEXT,                     -- all of it, as a compact JWE; NULL once it has ended
    key_id          TEXT NOT NULL,            -- of the vault key that it is, or was, sealed with
    created_by      TEXT NOT NULL,
    created_by_name TEXT NOT NULL,
    created_us      BIGINT NOT NULL,
    used_us         BIGINT,
    ended           TEXT CHECK (ended IN ('replaced', 'revoked')),
    ended_by        TEXT,
    ended_by_name   TEXT,
    ended_us        BIGINT,
    CHECK ((kind = 'api-key') = (header <> '')),
    CHECK ((kind = 'oauth2') = (token_url <> '')),
    CHECK ((kind = 'mtls') = (expires_us IS NOT NULL)),
    CHECK ((ended IS NULL) = (sealed IS NOT NULL)),
    CHECK ((ended IS NULL) = (ended_by IS NULL)),
    CHECK ((ended IS NULL) = (ended_by_name IS NULL)),
    CHECK ((ended IS NULL) = (ended_us IS NULL)),
    CHECK (sealed <> '')
);
CREATE UNIQUE INDEX credential_in_use ON credential (agent_id) WHERE ended IS NULL;
CREATE INDEX credential_history ON credential (agent_id, created_us DESC, id DESC);
-- +goose StatementBegin
CREATE FUNCTION refuse_credential_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0];
END $$;
-- +goose StatementEnd
CREATE TRIGGER credential_no_delete BEFORE DELETE ON credential FOR EACH ROW
    EXECUTE FUNCTION refuse_credential_change('credentials are ended, not deleted');
CREATE TRIGGER credential_no_truncate BEFORE TRUNCATE ON credential FOR EACH STATEMENT
    EXECUTE FUNCTION refuse_credential_change('credentials are ended, not deleted');
CREATE TRIGGER credential_ended BEFORE UPDATE ON credential FOR EACH ROW WHEN (OLD.ended IS NOT NULL)
    EXECUTE FUNCTION refuse_credential_change('a credential that has ended stays as it is');
CREATE TRIGGER credential_same BEFORE UPDATE OF id, organisation_id, agent_id, kind, origins, header, token_url, expires_us, created_by, created_by_name, created_us ON credential FOR EACH ROW
    EXECUTE FUNCTION refuse_credential_change('what a credential says does not change');

-- +goose Down
DROP TABLE credential;
DROP FUNCTION refuse_credential_change;
