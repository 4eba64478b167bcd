package web

import (
	"net/http"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// grantAdd grants somebody something on an agent.
func (s *server) grantAdd(w http.ResponseWriter, r *http.Request) error {
	if err := posted(w, r); err != nil {
		return err
	}
	get := r.PostForm.Get
	entered := views.EnteredGrant{Subject: get("subject"), SkillID: get("skill"), Permission: access.Permission(get("permission"))}
	subject, err := grantSubject(entered.Subject)
	if err == nil {
		_, err = s.Grants.Add(r.Context(), s.Principal(r), access.Grant{
			Subject: subject, AgentID: r.PathValue("id"), SkillID: entered.SkillID, Permission: entered.Permission, Enabled: true,
		})
	}
	if err == nil {
		return moved(w, r, sightPath(r))
	}
	status, faults, ok := toCorrect(err, map[string]string{"memberId": "subject", "teamId": "subject", "skillId": "skill", "": "subject"})
	if !ok {
		return err
	}
	return s.sightPage(w, r, status, views.SightPage{Entered: entered, Faults: faults})
}

// grantSubject reads whom something is to be granted to, as the list of choices names
// them.
func grantSubject(chosen string) (access.Subject, error) {
	kind, id, _ := strings.Cut(chosen, ":")
	switch {
	case chosen == views.Everybody:
		return access.Subject{}, nil
	case kind == "team" && id != "":
		return access.Subject{TeamID: id}, nil
	case kind == "member" && id != "":
		return access.Subject{MemberID: id}, nil
	}
	return access.Subject{}, fault.WithFields("This cannot be granted.", []fault.Field{{Location: "subject", Message: "Choose whom to grant it to."}})
}

// sightPath is the page of who can see the agent that a request is about.
func sightPath(r *http.Request) string { return "/agents/" + r.PathValue("id") + "/access" }
