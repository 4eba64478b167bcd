package web

import (
	"net/http"
	"slices"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// tokensList lists the API tokens of whoever looks; those of everybody if an
// administrator asks for them.
func (s *server) tokensList(w http.ResponseWriter, r *http.Request) error {
	all := r.URL.Query().Get("of") == "all"
	tokens, err := s.Tokens.List(r.Context(), s.Principal(r), all)
	if err != nil {
		return err
	}
	frame, err := s.settingsShell(r, "API tokens")
	if err != nil {
		return err
	}
	slices.SortStableFunc(tokens, func(a, b access.Token) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return page(r.Context(), w, http.StatusOK, views.Tokens(views.TokensPage{Shell: frame, Tokens: tokens, All: all}))
}
