package web

import (
	"net/http"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// credentialSet binds the credential that was entered to an agent. What cannot be
// used is told beside its control; whatever is no secret stays in them.
func (s *server) credentialSet(w http.ResponseWriter, r *http.Request) error {
	if err := posted(w, r); err != nil {
		return err
	}
	a, err := s.Agents.Get(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	given := enteredCredential(r)
	_, err = s.Credentials.Set(r.Context(), s.Principal(r), a.ID, given)
	if err == nil {
		return moved(w, r, "/agents/"+a.ID)
	}
	if fault.KindOf(err) != fault.Unprocessable {
		return err
	}
	p := views.CredentialPage{Agent: a, Kind: given.Kind, Entered: map[string]string{}, Errors: faultsOf(err)}
	for _, name := range views.CredentialFields(given.Kind) {
		p.Entered[name] = r.PostForm.Get(name)
	}
	p.Problem = fault.Public(err).Message + " Secrets are not shown again: enter them once more."
	return s.credentialPage(w, r, http.StatusUnprocessableEntity, p)
}

func enteredCredential(r *http.Request) scheme.Credential {
	get := r.PostForm.Get
	return scheme.Credential{
		Kind: scheme.Kind(get("kind")), Origins: strings.Fields(get("origins")), Secret: scheme.Secret(get("secret")),
		Header: get("header"), Username: scheme.Secret(get("username")),
		TokenURL: get("tokenUrl"), ClientID: get("clientId"), ClientAuth: get("clientAuth"), Scope: get("scope"), Audience: get("audience"),
		Certificate: get("certificate"), CA: get("ca"),
	}
}
