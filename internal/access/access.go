// Package access says who acts. In local mode that is always one administrator,
// the local operator, of one organisation.
package access

// Principal is the person or program on whose behalf something is done.
type Principal struct {
	OrganisationID string
	PersonID       string
	Name           string // as shown to other people
}

// LocalOrganisation is the only organisation in local mode.
const LocalOrganisation = "local"

// LocalOperator is the one person of local mode.
func LocalOperator() Principal {
	return Principal{OrganisationID: LocalOrganisation, PersonID: "local-operator", Name: "Local operator"}
}
