package guardtest

import (
	"log/slog"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/httpguard"
	"github.com/agent-taskbay/taskbay/internal/live"
)

// Origin is where the people of a matrix sign in.
const Origin = "https://console.example"

// Way is a role and what a token leaves of it. Token brings it to a door of Matrix.
type Way struct {
	Role  access.Role
	Scope access.Scope
	Token string
}

// matrix says what each way is let in for. It is written out here so that it does not
// come from the policy that it is held against.
var matrix = map[Way]string{
	{access.Admin, access.ScopeAdminister, "admin-administer"}:       "read operate administer own",
	{access.Admin, access.ScopeOperate, "admin-operate"}:             "read operate",
	{access.Admin, access.ScopeRead, "admin-read"}:                   "read",
	{access.Operator, access.ScopeAdminister, "operator-administer"}: "read operate own",
	{access.Operator, access.ScopeOperate, "operator-operate"}:       "read operate",
	{access.Operator, access.ScopeRead, "operator-read"}:             "read",
	{access.Viewer, access.ScopeAdminister, "viewer-administer"}:     "read own",
	{access.Viewer, access.ScopeOperate, "viewer-operate"}:           "read",
	{access.Viewer, access.ScopeRead, "viewer-read"}:                 "read",
}

// Matrix returns a door where people sign in, and what each way in is let in for: needs
// with spaces between them. Nobody has a session.
func Matrix() (*httpguard.Door, map[Way]string) {
	tokens := &Identities{}
	for w := range matrix {
		tokens.Set(w.Token, access.Identity{Principal: access.Principal{
			OrganisationID: access.LocalOrganisation, PersonID: w.Token, Name: w.Token, Kind: access.KindService, Role: w.Role, Scope: w.Scope, TokenID: w.Token,
		}})
	}
	return &httpguard.Door{
		Origin: Origin, Sessions: &Identities{}, Tokens: tokens, Limiter: &Limiter{}, Live: &live.Hub{},
		Log: slog.New(slog.DiscardHandler), Recheck: time.Hour,
	}, matrix
}
