package access

import "github.com/agent-taskbay/taskbay/internal/audit"

// KindSystem is Taskbay itself at work.
const KindSystem Kind = audit.System

// System is Taskbay itself at work in an organisation, for nobody: its workers and
// observers see and do everything there.
func System(organisationID string) Principal {
	taskbay := audit.Taskbay()
	return Principal{OrganisationID: organisationID, PersonID: taskbay.ID, Name: taskbay.Name, Kind: KindSystem, Role: Admin, Scope: ScopeAdminister}
}

// In is the principal in another organisation. It is for those who may run commands on
// the machine.
func (p Principal) In(organisationID string) Principal {
	p.OrganisationID = organisationID
	return p
}

// Everything is the view of all that an organisation has.
func Everything(organisationID string) View { return View{OrganisationID: organisationID, All: true} }
