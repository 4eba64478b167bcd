-- +goose Up
-- Organisations, the people and programs in them, and what they may see and do.
CREATE TABLE organisation (
    id         TEXT PRIMARY KEY CHECK (id <> ''),
    name       TEXT NOT NULL CHECK (name <> ''),
    created_us BIGINT NOT NULL
);

-- A member of an organisation. A person is known by the exact issuer and subject of
-- their OpenID provider; a service account has only API tokens.
CREATE TABLE membership (
    id              TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL REFERENCES organisation (id),
    kind            TEXT NOT NULL CHECK (kind IN ('local', 'person', 'service')),
    issuer          TEXT,
    subject         TEXT,
    name            TEXT NOT NULL CHECK (name <> ''),
    role            TEXT NOT NULL CHECK (role IN ('admin', 'operator', 'viewer')),
    created_us      BIGINT NOT NULL,
    disabled_us     BIGINT,
    CHECK ((kind = 'person') = (issuer IS NOT NULL)),
    CHECK ((kind = 'person') = (subject IS NOT NULL)),
    UNIQUE (issuer, subject)
);
CREATE INDEX membership_organisation ON membership (organisation_id, name, id);

CREATE TABLE team (
    id              TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL REFERENCES organisation (id),
    name            TEXT NOT NULL CHECK (name <> ''),
    created_us      BIGINT NOT NULL,
    UNIQUE (organisation_id, name)
);
CREATE TABLE team_member (
    team_id       TEXT NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    membership_id TEXT NOT NULL REFERENCES membership (id),
    PRIMARY KEY (team_id, membership_id)
);
CREATE INDEX team_member_membership ON team_member (membership_id);

-- Who may read or operate an agent, or one of its skills ('' is the whole agent).
-- Neither a member nor a team is everybody in the organisation.
CREATE TABLE access_grant (
    id              TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL REFERENCES organisation (id),
    membership_id   TEXT REFERENCES membership (id),
    team_id         TEXT REFERENCES team (id) ON DELETE CASCADE,
    agent_id        TEXT NOT NULL REFERENCES agent (id),
    skill_id        TEXT NOT NULL DEFAULT '',
    permission      TEXT NOT NULL CHECK (permission IN ('read', 'operate')),
    enabled         BOOLEAN NOT NULL DEFAULT TRUE,
    created_us      BIGINT NOT NULL,
    CHECK (membership_id IS NULL OR team_id IS NULL)
);
CREATE UNIQUE INDEX access_grant_once ON access_grant (agent_id, skill_id, permission, organisation_id, COALESCE(membership_id, ''), COALESCE(team_id, ''));
CREATE INDEX access_grant_membership ON access_grant (membership_id);
CREATE INDEX access_grant_team ON access_grant (team_id);
CREATE INDEX access_grant_organisation ON access_grant (organisation_id);

-- The skill that a task is held to; '' if none.
ALTER TABLE task ADD COLUMN skill_id TEXT NOT NULL DEFAULT '';

-- A browser that somebody signed in with, by the SHA-256 of its cookie.
CREATE TABLE session (
    id            TEXT PRIMARY KEY,
    sha256        TEXT NOT NULL UNIQUE,
    membership_id TEXT NOT NULL REFERENCES membership (id),
    client        TEXT NOT NULL DEFAULT '', -- the browser, as it calls itself
    created_us    BIGINT NOT NULL,
    expires_us    BIGINT NOT NULL,
    ended_us      BIGINT
);
CREATE INDEX session_membership ON session (membership_id, expires_us);
CREATE INDEX session_expiry ON session (expires_us);

-- Sign-ins that have come back from the provider: each may once.
CREATE TABLE used_sign_in (
    sha256     TEXT PRIMARY KEY,
    expires_us BIGINT NOT NULL
);

CREATE TABLE api_token (
    id              TEXT PRIMARY KEY,
    sha256          TEXT NOT NULL UNIQUE,
    membership_id   TEXT NOT NULL REFERENCES membership (id),
    name            TEXT NOT NULL CHECK (name <> ''),
    scope           TEXT NOT NULL CHECK (scope IN ('read', 'operate', 'administer')),
    created_by      TEXT NOT NULL,
    created_by_name TEXT NOT NULL,
    created_us      BIGINT NOT NULL,
    expires_us      BIGINT,
    used_us         BIGINT,
    revoked_us      BIGINT
);
CREATE INDEX api_token_membership ON api_token (membership_id, created_us);

-- How much of their allowance the processes have taken for somebody in a minute.
CREATE TABLE allowance (
    who       TEXT NOT NULL,
    kind      TEXT NOT NULL,
    minute_us BIGINT NOT NULL,
    taken     BIGINT NOT NULL,
    PRIMARY KEY (who, kind, minute_us)
);
CREATE INDEX allowance_minute ON allowance (minute_us);

INSERT INTO organisation (id, name, created_us) VALUES ('local', 'Local', 0);
INSERT INTO membership (id, organisation_id, kind, name, role, created_us) VALUES ('local-operator', 'local', 'local', 'Local operator', 'admin', 0);

-- +goose Down
DROP TABLE allowance;
DROP TABLE api_token;
DROP TABLE used_sign_in;
DROP TABLE session;
ALTER TABLE task DROP COLUMN skill_id;
DROP TABLE access_grant;
DROP TABLE team_member;
DROP TABLE team;
DROP TABLE membership;
DROP TABLE organisation;
