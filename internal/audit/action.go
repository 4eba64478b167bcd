package audit

import (
	"cmp"
	"strings"
)

// Action is what was done. The list is closed: see actions.
type Action string

// Kind groups actions, to filter by.
type Kind string

// The kinds. Those of KindSignIn and KindAccess are for administrators alone, wherever
// they belong.
const (
	KindCommand    Kind = "command"
	KindAgent      Kind = "agent"
	KindCredential Kind = "credential"
	KindSignIn     Kind = "sign-in"
	KindAccess     Kind = "access"
	KindSetting    Kind = "setting"
	KindRecord     Kind = "record"
)

// Kinds returns all kinds, in the order in which they are offered.
func Kinds() []Kind {
	return []Kind{KindCommand, KindAgent, KindCredential, KindSignIn, KindAccess, KindSetting, KindRecord}
}

// Label is what a kind is called.
func (k Kind) Label() string { return kindLabels[k] }

var kindLabels = map[Kind]string{
	KindCommand: "Messages and cancels", KindAgent: "Agents", KindCredential: "Agent credentials", KindSignIn: "Signing in and out",
	KindAccess: "People and access", KindSetting: "Settings", KindRecord: "The record itself",
}

// The actions.
const (
	MessageSent      Action = "message-sent"      // accepted to be sent
	QuestionAnswered Action = "question-answered" // the same, and it answers a question
	CancelSent       Action = "cancel-sent"
	SentAgain        Action = "sent-again" // although the agent may have it
	TaskChecked      Action = "task-checked"
	TaskPurged       Action = "task-purged"

	AgentRegistered  Action = "agent-registered"
	AgentRestored    Action = "agent-restored" // a removed one was registered again
	AgentRemoved     Action = "agent-removed"
	AgentDiscovered  Action = "agent-discovered" // a person had its card fetched
	InterfaceSet     Action = "interface-set"
	InterfaceCleared Action = "interface-cleared"
	PinAdded         Action = "pin-added"
	PinRemoved       Action = "pin-removed"

	CredentialSet         Action = "credential-set"
	CredentialRevoked     Action = "credential-revoked"
	CredentialReencrypted Action = "credential-reencrypted"

	SignedIn      Action = "signed-in"
	SignedOut     Action = "signed-out"
	SignInRefused Action = "sign-in-refused"
	SessionEnded  Action = "session-ended" // by somebody in another session

	TokenMade       Action = "token-made"
	TokenRevoked    Action = "token-revoked"
	MemberAdded     Action = "member-added"
	MemberChanged   Action = "member-changed"
	MemberDisabled  Action = "member-disabled"
	MemberEnabled   Action = "member-enabled"
	TeamMade        Action = "team-made"
	TeamChanged     Action = "team-changed"
	TeamRemoved     Action = "team-removed"
	TeamMemberAdded Action = "team-member-added"
	TeamMemberGone  Action = "team-member-removed"
	GrantMade       Action = "grant-made"
	GrantChanged    Action = "grant-changed"
	GrantRemoved    Action = "grant-removed"

	RetentionSet Action = "retention-set"

	BackupRestored Action = "backup-restored"
	AuditExported  Action = "audit-exported"
)

// actions has every action, its kind, and what it is in words: what somebody did, with
// the names of an agent and of another object in the places of {agent} and {object}.
var actions = map[Action]struct {
	kind  Kind
	words string
}{
	MessageSent:      {KindCommand, "sent a message to {agent}"},
	QuestionAnswered: {KindCommand, "answered a question of {agent}"},
	CancelSent:       {KindCommand, "asked {agent} to cancel a task"},
	SentAgain:        {KindCommand, "sent something to {agent} again, which it may have had already"},
	TaskChecked:      {KindCommand, "had {agent} asked how a task stands"},
	TaskPurged:       {KindRecord, "purged the raw observations and files of a task of {agent}"},

	AgentRegistered:  {KindAgent, "added the agent {agent}"},
	AgentRestored:    {KindAgent, "brought the agent {agent} back"},
	AgentRemoved:     {KindAgent, "removed the agent {agent}"},
	AgentDiscovered:  {KindAgent, "fetched the card of {agent}"},
	InterfaceSet:     {KindAgent, "chose an interface of {agent}"},
	InterfaceCleared: {KindAgent, "left the interface of {agent} to its card again"},
	PinAdded:         {KindAgent, "pinned a key for cards from {object}"},
	PinRemoved:       {KindAgent, "removed a pinned key for cards from {object}"},

	CredentialSet:         {KindCredential, "set the credential of {agent}"},
	CredentialRevoked:     {KindCredential, "revoked the credential of {agent}"},
	CredentialReencrypted: {KindCredential, "encrypted the credential of {agent} with another key"},

	SignedIn:      {KindSignIn, "signed in"},
	SignedOut:     {KindSignIn, "signed out"},
	SignInRefused: {KindSignIn, "was not let in"},
	SessionEnded:  {KindSignIn, "ended a session of {object}"},

	TokenMade:       {KindAccess, "made the API token {object}"},
	TokenRevoked:    {KindAccess, "revoked the API token {object}"},
	MemberAdded:     {KindAccess, "added {object}"},
	MemberChanged:   {KindAccess, "changed {object}"},
	MemberDisabled:  {KindAccess, "disabled {object}"},
	MemberEnabled:   {KindAccess, "enabled {object}"},
	TeamMade:        {KindAccess, "made the team {object}"},
	TeamChanged:     {KindAccess, "changed the team {object}"},
	TeamRemoved:     {KindAccess, "removed the team {object}"},
	TeamMemberAdded: {KindAccess, "added somebody to the team {object}"},
	TeamMemberGone:  {KindAccess, "took somebody out of the team {object}"},
	GrantMade:       {KindAccess, "granted {object} access to {agent}"},
	GrantChanged:    {KindAccess, "changed the access of {object} to {agent}"},
	GrantRemoved:    {KindAccess, "took the access to {agent} from {object}"},

	RetentionSet: {KindSetting, "set for how long raw observations and files are kept"},

	BackupRestored: {KindRecord, "restored the record from a backup"},
	AuditExported:  {KindRecord, "exported the trail"},
}

// Phrase is a part of an entry in words. Of says whose name it is: "actor", "agent" or
// "object"; "" for the words between.
type Phrase struct {
	Text string
	Of   string
}

// Phrases is an entry in words, in parts: names come from people and agents.
func (e Entry) Phrases() []Phrase {
	phrases := []Phrase{{e.Actor.Name, "actor"}}
	rest := " " + cmp.Or(actions[e.Action].words, string(e.Action))
	for rest != "" {
		before, name, found := strings.Cut(rest, "{")
		phrases = append(phrases, Phrase{Text: before})
		if !found {
			break
		}
		of, after, _ := strings.Cut(name, "}")
		text := cmp.Or(e.ObjectName, "somebody")
		if of == "agent" {
			text = cmp.Or(e.AgentName, "an agent")
		}
		phrases = append(phrases, Phrase{text, of})
		rest = after
	}
	return phrases
}

// Sentence is an entry in words: "Ada answered a question of Deploy bot".
func (e Entry) Sentence() string {
	var words strings.Builder
	for _, phrase := range e.Phrases() {
		words.WriteString(phrase.Text)
	}
	return words.String()
}
