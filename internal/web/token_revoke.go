package web

import "net/http"

// tokenRevoke has a token work no longer, and goes back to the list that it was on.
func (s *server) tokenRevoke(w http.ResponseWriter, r *http.Request) error {
	if err := posted(w, r); err != nil {
		return err
	}
	t, err := s.Tokens.Revoke(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	switch r.PostForm.Get("from") {
	case "all":
		return moved(w, r, "/settings/tokens?of=all")
	case "member":
		return moved(w, r, "/settings/people/"+t.MembershipID)
	}
	return moved(w, r, "/settings/tokens")
}
