package client

import (
	"context"
	"net/http"
	"time"
)

// MemberInput is somebody to add.
type MemberInput struct {
	Kind    string `json:"kind,omitempty"`    // person, or service for an account that comes by API tokens; "" is person
	Issuer  string `json:"issuer,omitempty"`  // the person's OpenID provider, exactly as it calls itself
	Subject string `json:"subject,omitempty"` // what the provider calls the person, exactly
	Name    string `json:"name"`
	Role    string `json:"role"` // admin, operator or viewer
}

// MemberChange is what to change of a member; what is nil stays.
type MemberChange struct {
	Name     *string `json:"name,omitempty"`
	Role     *string `json:"role,omitempty"`
	Disabled *bool   `json:"disabled,omitempty"` // true ends sessions and tokens, which false does not bring back
}

// Member is a person or a service account in the organisation.
type Member struct {
	ID         string     `json:"id"`
	Kind       string     `json:"kind"`              // local, person or service
	Issuer     string     `json:"issuer,omitempty"`  // of a person
	Subject    string     `json:"subject,omitempty"` // of a person
	Name       string     `json:"name"`
	Role       string     `json:"role"`
	CreatedAt  time.Time  `json:"createdAt"`
	DisabledAt *time.Time `json:"disabledAt"` // nil for one who may come in
}

// TeamInput is a team to make.
type TeamInput struct {
	Name    string   `json:"name"`
	Members []string `json:"members,omitempty"` // their IDs
}

// TeamChange is what to change of a team; what is nil stays.
type TeamChange struct {
	Name    *string
	Members []string // the IDs of all members that it has from now on
}

// teamChange is a TeamChange as it is sent: that a team has nobody any more is not left out.
type teamChange struct {
	Name    *string   `json:"name,omitempty"`
	Members *[]string `json:"members,omitempty"`
}

// Team is some members of the organisation, to be granted something together.
type Team struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Members   []string  `json:"members"` // their IDs, by their names
	CreatedAt time.Time `json:"createdAt"`
}

// GrantInput is something to grant: to a member, a team or everybody, one of the three.
type GrantInput struct {
	AgentID    string `json:"agentId"`
	SkillID    string `json:"skillId,omitempty"` // "" for the whole agent
	MemberID   string `json:"memberId,omitempty"`
	TeamID     string `json:"teamId,omitempty"`
	Everybody  bool   `json:"everybody,omitempty"`
	Permission string `json:"permission"`        // read or operate
	Enabled    *bool  `json:"enabled,omitempty"` // nil is true
}

// GrantChange is what to change of a grant; what is nil stays.
type GrantChange struct {
	Permission *string `json:"permission,omitempty"`
	Enabled    *bool   `json:"enabled,omitempty"` // whether it counts
}

// Grant lets somebody read or operate an agent, or one of its skills.
type Grant struct {
	ID         string    `json:"id"`
	AgentID    string    `json:"agentId"`
	AgentName  string    `json:"agentName"`
	SkillID    string    `json:"skillId,omitempty"` // "" for the whole agent
	MemberID   string    `json:"memberId,omitempty"`
	TeamID     string    `json:"teamId,omitempty"`
	Everybody  bool      `json:"everybody"`
	Name       string    `json:"name,omitempty"` // of the member or the team
	Permission string    `json:"permission"`     // read or operate
	Enabled    bool      `json:"enabled"`        // whether it counts
	CreatedAt  time.Time `json:"createdAt"`
}

// GrantFilter narrows the grants; zero members narrow nothing.
type GrantFilter struct {
	AgentID  string
	MemberID string // without what their teams are granted
	TeamID   string
}

// Sight is how somebody comes to see an agent, or tasks of one of its skills.
type Sight struct {
	MemberID   string `json:"memberId"`
	MemberName string `json:"memberName"`
	Role       string `json:"role"`
	AgentID    string `json:"agentId"`
	AgentName  string `json:"agentName"`
	SkillID    string `json:"skillId,omitempty"` // "" for the whole agent
	Permission string `json:"permission"`        // as the role of the member lets it stand
	Grant      *Grant `json:"grant"`             // nil for an administrator, who needs none
}

// MemberAccess is what a member can see.
type MemberAccess struct {
	Member     Member  `json:"member"`
	Everything bool    `json:"everything"` // the member is an administrator, and needs no grant
	Items      []Sight `json:"items"`
	Next       *string `json:"next"` // nil: the list is whole
}

// Members returns everybody in the organisation by name, disabled ones too. All about
// members, teams and grants is for administrators.
func (c *Client) Members(ctx context.Context) ([]Member, error) {
	list, err := fetch[items[Member]](ctx, c, call{method: http.MethodGet, path: "/members"})
	return list.Items, err
}

// AddMember adds a person or a service account.
func (c *Client) AddMember(ctx context.Context, input MemberInput) (Member, error) {
	return fetch[Member](ctx, c, call{method: http.MethodPost, path: "/members", body: input, once: true})
}

// Member returns one member.
func (c *Client) Member(ctx context.Context, id string) (Member, error) {
	return fetch[Member](ctx, c, call{method: http.MethodGet, path: pathOf("/members/{}", id)})
}

// ChangeMember changes, disables or enables a member.
func (c *Client) ChangeMember(ctx context.Context, id string, change MemberChange) (Member, error) {
	return fetch[Member](ctx, c, call{method: http.MethodPut, path: pathOf("/members/{}", id), body: change})
}

// MemberAccess says what a member can see, and by which grants.
func (c *Client) MemberAccess(ctx context.Context, id string) (MemberAccess, error) {
	return fetch[MemberAccess](ctx, c, call{method: http.MethodGet, path: pathOf("/members/{}/access", id)})
}

// Teams returns the teams by name.
func (c *Client) Teams(ctx context.Context) ([]Team, error) {
	list, err := fetch[items[Team]](ctx, c, call{method: http.MethodGet, path: "/teams"})
	return list.Items, err
}

// MakeTeam makes a team.
func (c *Client) MakeTeam(ctx context.Context, input TeamInput) (Team, error) {
	return fetch[Team](ctx, c, call{method: http.MethodPost, path: "/teams", body: input, once: true})
}

// Team returns one team.
func (c *Client) Team(ctx context.Context, id string) (Team, error) {
	return fetch[Team](ctx, c, call{method: http.MethodGet, path: pathOf("/teams/{}", id)})
}

// ChangeTeam gives a team another name or other members.
func (c *Client) ChangeTeam(ctx context.Context, id string, change TeamChange) (Team, error) {
	body := teamChange{Name: change.Name}
	if change.Members != nil {
		body.Members = &change.Members
	}
	return fetch[Team](ctx, c, call{method: http.MethodPut, path: pathOf("/teams/{}", id), body: body})
}

// RemoveTeam removes a team with what is granted to it, and returns it as it was.
func (c *Client) RemoveTeam(ctx context.Context, id string) (Team, error) {
	return fetch[Team](ctx, c, call{method: http.MethodDelete, path: pathOf("/teams/{}", id), once: true})
}

// AddTeamMember puts a member into a team.
func (c *Client) AddTeamMember(ctx context.Context, id, memberID string) (Team, error) {
	return fetch[Team](ctx, c, call{method: http.MethodPut, path: pathOf("/teams/{}/members/{}", id, memberID)})
}

// RemoveTeamMember takes a member out of a team.
func (c *Client) RemoveTeamMember(ctx context.Context, id, memberID string) (Team, error) {
	return fetch[Team](ctx, c, call{method: http.MethodDelete, path: pathOf("/teams/{}/members/{}", id, memberID), once: true})
}

// Grants returns the grants, or those of them that a filter leaves.
func (c *Client) Grants(ctx context.Context, f GrantFilter) ([]Grant, error) {
	query := queryOf(map[string]string{"agentId": f.AgentID, "memberId": f.MemberID, "teamId": f.TeamID})
	list, err := fetch[items[Grant]](ctx, c, call{method: http.MethodGet, path: "/grants", query: query})
	return list.Items, err
}

// AddGrant lets somebody read or operate an agent, or one of its skills.
func (c *Client) AddGrant(ctx context.Context, input GrantInput) (Grant, error) {
	return fetch[Grant](ctx, c, call{method: http.MethodPost, path: "/grants", body: input, once: true})
}

// Grant returns one grant.
func (c *Client) Grant(ctx context.Context, id string) (Grant, error) {
	return fetch[Grant](ctx, c, call{method: http.MethodGet, path: pathOf("/grants/{}", id)})
}

// ChangeGrant changes what a grant permits, or whether it counts.
func (c *Client) ChangeGrant(ctx context.Context, id string, change GrantChange) (Grant, error) {
	return fetch[Grant](ctx, c, call{method: http.MethodPut, path: pathOf("/grants/{}", id), body: change})
}

// RemoveGrant takes a grant back, and returns it as it was.
func (c *Client) RemoveGrant(ctx context.Context, id string) (Grant, error) {
	return fetch[Grant](ctx, c, call{method: http.MethodDelete, path: pathOf("/grants/{}", id), once: true})
}

// AgentSights says who can see an agent, and by which grants: administrators first, then
// by name.
func (c *Client) AgentSights(ctx context.Context, agentID string) ([]Sight, error) {
	list, err := fetch[items[Sight]](ctx, c, call{method: http.MethodGet, path: pathOf("/agents/{}/access", agentID)})
	return list.Items, err
}
