package command

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// digest is the SHA-256 of the request as it is stored.
func (r Request) digest() (string, error) {
	content, err := r.Encode()
	if err != nil {
		return "", fault.Wrap(err, fault.Invalid, "The message cannot be written as JSON.")
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}

// entry is what the trail says of something that was done with the command. sum is the
// digest of what it sends; "" if it sends nothing of its own.
func (r Record) entry(p access.Principal, agentName string, action audit.Action, sum string) audit.Entry {
	e := audit.Entry{
		OrganisationID: p.OrganisationID, Actor: p.Actor(), Action: action,
		AgentID: r.Command.AgentID, AgentName: agentName, TaskID: r.Command.TaskID, CommandID: r.Command.ID, MessageID: r.Command.MessageID, ContentSHA256: sum,
	}
	if r.Answers != "" {
		e.Detail = map[string]string{"question": r.Answers}
	}
	return e
}

// auditResend puts on the trail that a command is sent again.
func auditResend(tx Tx, p access.Principal, r Record) error {
	a, err := tx.AnyAgent(r.Command.AgentID)
	if err != nil {
		return err
	}
	sum := ""
	if r.Command.Action == Send {
		if sum, err = r.Request.digest(); err != nil {
			return err
		}
	}
	return tx.Audit(r.entry(p, a.Name, audit.SentAgain, sum))
}
