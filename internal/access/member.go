package access

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
)

// Organisation is a group of people whose agents and tasks nobody else sees.
type Organisation struct {
	ID        string
	Name      string
	CreatedAt time.Time
}

// Member is a person or a service account in an organisation. A person is known by the
// exact issuer and subject that their OpenID provider gives; nothing else that it says
// of them counts.
type Member struct {
	ID             string    `json:"id"` // UUIDv7, or "local-operator"
	OrganisationID string    `json:"organisationId"`
	Kind           Kind      `json:"kind"`              // KindLocal, KindPerson or KindService
	Issuer         string    `json:"issuer,omitempty"`  // of a person
	Subject        string    `json:"subject,omitempty"` // of a person
	Name           string    `json:"name"`
	Role           Role      `json:"role"`
	CreatedAt      time.Time `json:"createdAt"`
	DisabledAt     time.Time `json:"disabledAt,omitzero"` // zero for one who may sign in
}

// Enabled reports whether the member may sign in.
func (m Member) Enabled() bool { return m.DisabledAt.IsZero() }

// NewMember is a member to add: a person, or a service account if it has neither
// issuer nor subject.
type NewMember struct {
	Service bool
	Issuer  string
	Subject string
	Name    string
	Role    Role
}

// MemberTx is a transaction of the record as the members of organisations need it.
type MemberTx interface {
	Now() time.Time
	Signal(topics ...string)
	// Audit writes an entry of the trail with what the transaction does.
	Audit(audit.Entry) error
	// Organisation returns fault.NotFound if there is none of that ID. Within a
	// transaction that writes it locks the organisation's members until the end.
	Organisation(id string) (Organisation, error)
	// InsertOrganisation stores one, unless there is one of that ID.
	InsertOrganisation(Organisation) error
	// Members returns an organisation's members by name, disabled ones too.
	Members(organisationID string) ([]Member, error)
	// Member returns fault.NotFound if the organisation has none of that ID.
	Member(organisationID, id string) (Member, error)
	// InsertMember is a fault.Conflict if the person is a member of an organisation.
	InsertMember(Member) error
	// UpdateMember stores the name, the role, and since when the member is disabled.
	UpdateMember(Member) error
	// EndAccess ends the member's sessions and revokes their tokens.
	EndAccess(memberID string) error
}

// Members keeps who is in an organisation. Only its administrators may, others get
// fault.Forbidden; they see and change no other organisation than their own.
type Members struct {
	Update func(context.Context, func(MemberTx) error) error
	View   func(context.Context, func(MemberTx) error) error
	NewID  func() string // UUIDv7
	// Issuer is the provider that people sign in with; "" if that is not known here.
	// Nobody of another one can sign in.
	Issuer string
}

// Bounds of what names people and things, in characters.
const (
	maxName       = 100
	maxIssuer     = 1024
	maxSubject    = 255
	maxIdentifier = 64 // of an organisation
)

// List returns the members by name, disabled ones too.
func (s *Members) List(ctx context.Context, p Principal) ([]Member, error) {
	if err := Allow(p, NeedAdminister); err != nil {
		return nil, err
	}
	var all []Member
	err := s.View(ctx, func(tx MemberTx) (err error) {
		all, err = tx.Members(p.OrganisationID)
		return err
	})
	return all, err
}

// Get returns one member; fault.NotFound if there is none of that ID.
func (s *Members) Get(ctx context.Context, p Principal, id string) (Member, error) {
	if err := Allow(p, NeedAdminister); err != nil {
		return Member{}, err
	}
	var m Member
	err := s.View(ctx, func(tx MemberTx) (err error) {
		m, err = tx.Member(p.OrganisationID, id)
		return err
	})
	return m, err
}

// Add makes somebody a member. fault.Unprocessable, with the locations issuer, subject,
// name and role, for one who cannot be; fault.Conflict for one who is.
func (s *Members) Add(ctx context.Context, p Principal, n NewMember) (Member, error) {
	if err := Allow(p, NeedAdminister); err != nil {
		return Member{}, err
	}
	m := Member{
		ID: s.NewID(), OrganisationID: p.OrganisationID, Kind: KindPerson, Issuer: n.Issuer, Subject: n.Subject,
		Name: strings.TrimSpace(n.Name), Role: n.Role,
	}
	if n.Service {
		m.Kind = KindService
	}
	faults := checkMember(m)
	if m.Kind == KindPerson && !s.signsIn(m) && len(faults) == 0 {
		faults = append(faults, fault.Field{Location: "issuer", Message: "People sign in with " + s.Issuer + " here: it has to be exactly that."})
	}
	if len(faults) > 0 {
		return Member{}, fault.WithFields("This member cannot be added.", faults)
	}
	err := s.Update(ctx, func(tx MemberTx) error {
		if _, err := tx.Organisation(p.OrganisationID); err != nil {
			return err
		}
		m.CreatedAt = tx.Now()
		tx.Signal(live.AccessTopic(p.OrganisationID))
		if err := tx.InsertMember(m); err != nil {
			return err
		}
		return tx.Audit(m.entry(p, audit.MemberAdded))
	})
	return m, err
}

// AddOrganisation makes an organisation, unless there is one of that ID. It is for
// those who may run commands on the machine: fault.Forbidden for anybody else.
func (s *Members) AddOrganisation(ctx context.Context, p Principal, id, name string) error {
	if p.Kind != KindCommand {
		return fault.New(fault.Forbidden, "Organisations are made on the machine that Taskbay runs on.")
	}
	var faults []fault.Field
	if !isIdentifier(id) {
		faults = append(faults, fault.Field{Location: "organisation", Message: fmt.Sprintf("1 to %d small letters, digits and hyphens.", maxIdentifier)})
	}
	if name = strings.TrimSpace(name); !isName(name) {
		faults = append(faults, fault.Field{Location: "name", Message: fmt.Sprintf("1 to %d characters in one line.", maxName)})
	}
	if len(faults) > 0 {
		return fault.WithFields("This organisation cannot be made.", faults)
	}
	return s.Update(ctx, func(tx MemberTx) error {
		return tx.InsertOrganisation(Organisation{ID: id, Name: name, CreatedAt: tx.Now()})
	})
}

// MemberChange is what to change of a member; what is nil stays.
type MemberChange struct {
	Name    *string
	Role    *Role
	Enabled *bool
}

// Change changes a member at once, on what they have open too: disabling ends their
// sessions and revokes their tokens, which enabling does not bring back.
// fault.NotFound if there is none of that ID, fault.Unprocessable with the locations
// name and role, and fault.Conflict for what would leave the organisation without an
// administrator who can sign in, unless it is asked for on the machine itself.
func (s *Members) Change(ctx context.Context, p Principal, id string, c MemberChange) (Member, error) {
	if err := Allow(p, NeedAdminister); err != nil {
		return Member{}, err
	}
	var m Member
	err := s.Update(ctx, func(tx MemberTx) error {
		if _, err := tx.Organisation(p.OrganisationID); err != nil {
			return err
		}
		was, err := tx.Member(p.OrganisationID, id)
		if err != nil {
			return err
		}
		if was.Kind == KindLocal {
			return fault.New(fault.Conflict, "The local operator is whoever uses this machine, and stays as it is.")
		}
		m = c.apply(was, tx.Now())
		if faults := checkMember(m); len(faults) > 0 {
			return fault.WithFields("This member cannot be changed so.", faults)
		}
		if err := s.keepsAdmin(tx, p, was, m); err != nil {
			return err
		}
		if was.Enabled() && !m.Enabled() {
			if err := tx.EndAccess(m.ID); err != nil {
				return err
			}
		}
		tx.Signal(live.AccessTopic(p.OrganisationID), live.OrganisationTopic(p.OrganisationID))
		if err := tx.UpdateMember(m); err != nil {
			return err
		}
		return auditChange(tx, p, was, m)
	})
	return m, err
}

func (m Member) entry(p Principal, a audit.Action) audit.Entry {
	return audit.Entry{
		OrganisationID: m.OrganisationID, Actor: p.Actor(), Action: a, ObjectID: m.ID, ObjectName: m.Name,
		Detail: map[string]string{"kind": string(m.Kind), "role": string(m.Role)},
	}
}

// auditChange writes what was done to a member: that they were disabled or enabled, and
// that their name or role is another one.
func auditChange(tx MemberTx, p Principal, was, m Member) error {
	var actions []audit.Action
	if was.Role != m.Role || was.Name != m.Name {
		actions = append(actions, audit.MemberChanged)
	}
	switch {
	case was.Enabled() && !m.Enabled():
		actions = append(actions, audit.MemberDisabled)
	case !was.Enabled() && m.Enabled():
		actions = append(actions, audit.MemberEnabled)
	}
	for _, a := range actions {
		e := m.entry(p, a)
		if was.Role != m.Role {
			e.Detail["formerRole"] = string(was.Role)
		}
		if was.Name != m.Name {
			e.Detail["formerName"] = was.Name
		}
		if err := tx.Audit(e); err != nil {
			return err
		}
	}
	return nil
}

func (c MemberChange) apply(m Member, now time.Time) Member {
	if c.Name != nil {
		m.Name = strings.TrimSpace(*c.Name)
	}
	if c.Role != nil {
		m.Role = *c.Role
	}
	if c.Enabled != nil && *c.Enabled != m.Enabled() {
		m.DisabledAt = time.Time{}
		if !*c.Enabled {
			m.DisabledAt = now
		}
	}
	return m
}

// keepsAdmin says why a change would leave the organisation without an administrator
// who can sign in, or nil. Whoever may run commands on the machine can make one again.
func (s *Members) keepsAdmin(tx MemberTx, p Principal, was, becomes Member) error {
	if p.Kind == KindCommand || !was.administers() || becomes.administers() {
		return nil
	}
	all, err := tx.Members(was.OrganisationID)
	if err != nil {
		return err
	}
	for _, m := range all {
		if m.ID != was.ID && m.administers() && s.signsIn(m) {
			return nil
		}
	}
	return fault.New(fault.Conflict, "%s is the last administrator who can sign in, and stays so: make somebody else an administrator first. Only taskbay user on the machine itself goes past this.", was.Name)
}

// signsIn reports whether people of the member's provider can sign in.
func (s *Members) signsIn(m Member) bool { return s.Issuer == "" || m.Issuer == s.Issuer }

// administers reports whether the member is a person who can sign in as an
// administrator.
func (m Member) administers() bool { return m.Kind == KindPerson && m.Role == Admin && m.Enabled() }

// checkMember returns the faults of a member's inputs.
func checkMember(m Member) []fault.Field {
	var faults []fault.Field
	add := func(location, message string) {
		faults = append(faults, fault.Field{Location: location, Message: message})
	}
	switch {
	case m.Kind == KindService && m.Issuer+m.Subject != "":
		add("issuer", "A service account has neither issuer nor subject: it comes by API tokens.")
	case m.Kind == KindPerson:
		if !strings.HasPrefix(m.Issuer, "https://") && !strings.HasPrefix(m.Issuer, "http://") || !isLine(m.Issuer, maxIssuer) {
			add("issuer", "The address of the person's OpenID provider, exactly as it calls itself, such as https://login.example.com.")
		}
		if m.Subject == "" || !isLine(m.Subject, maxSubject) {
			add("subject", fmt.Sprintf("What the provider calls the person (sub), exactly: 1 to %d characters.", maxSubject))
		}
	}
	if !isName(m.Name) {
		add("name", fmt.Sprintf("1 to %d characters in one line.", maxName))
	}
	if m.Role != Admin && m.Role != Operator && m.Role != Viewer {
		add("role", "admin, operator or viewer.")
	}
	return faults
}

func isName(s string) bool { return strings.TrimSpace(s) != "" && isLine(s, maxName) }

// isLine reports whether s is at most n characters that show, in one line.
func isLine(s string, n int) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= n && !strings.ContainsFunc(s, func(r rune) bool { return r != ' ' && !unicode.IsGraphic(r) })
}

func isIdentifier(s string) bool {
	return s != "" && len(s) <= maxIdentifier && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}
