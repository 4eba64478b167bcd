package store

import (
	"fmt"
)

// forgottenAfter is how often in a row an agent has to say that it does not know a task
// until it counts as forgotten: once may be an agent that is just starting.
const forgottenAfter = 2

// notForgotten is a condition on a row of task. What the agent has forgotten waits for
// nobody, so needs_you is never true without it.
const notForgotten = "forgotten_checks < 2"

// NoteForgotten implements observe.Tx.
func (tx *Tx) NoteForgotten(taskID string, forgotten bool) error {
	var had int
	var since micros
	err := tx.row("SELECT forgotten_checks, forgotten_us FROM task WHERE id = ?", taskID).Scan(&had, &since)
	if err != nil {
		return fmt.Errorf("look whether the agent knows task %s: %w", taskID, err)
	}
	checks := 0
	if forgotten {
		checks = min(had+1, forgottenAfter)
	} else {
		since = micros{}
	}
	if checks == had {
		return nil
	}
	if since.IsZero() && forgotten {
		since.Time = tx.now
	}
	if err := tx.execOne("UPDATE task SET forgotten_checks = ?, forgotten_us = ? WHERE id = ?", checks, us(since.Time), taskID); err != nil {
		return fmt.Errorf("store whether the agent knows task %s: %w", taskID, err)
	}
	if (had >= forgottenAfter) == (checks >= forgottenAfter) {
		return nil
	}
	return tx.askOrNot(taskID)
}

// askOrNot has the task ask its question, or not, by whether the agent knows the task.
func (tx *Tx) askOrNot(taskID string) error {
	head, _, err := tx.TaskHead(taskID)
	if err != nil {
		return err
	}
	w, err := tx.writeTimeline(taskID)
	if err != nil {
		return err
	}
	if err := w.markQuestion(head.Question); err != nil {
		return err
	}
	if err := tx.execOne("UPDATE task SET needs_you = (? AND "+notForgotten+") WHERE id = ?", head.NeedsYou(), taskID); err != nil {
		return fmt.Errorf("store whether task %s needs a person: %w", taskID, err)
	}
	return w.save()
}
