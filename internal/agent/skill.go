package agent

// SkillRoutingURI names the extension by which a message is held to one skill. The URI
// is an identifier; nothing is fetched from it.
const SkillRoutingURI = "https://extensions.allsrc.dev/agent-taskbay/skill-routing/v1"

// RoutedSkills returns the skills that a message to the agent can be held to; none
// unless its latest stored card lists the extension.
func (a Agent) RoutedSkills() []Skill {
	if !a.Advertises(SkillRoutingURI) {
		return nil
	}
	return a.Card.Skills
}

// RoutesTo reports whether a message to the agent can be held to the skill.
func (a Agent) RoutesTo(skillID string) bool {
	for _, s := range a.RoutedSkills() {
		if s.ID == skillID {
			return true
		}
	}
	return false
}
