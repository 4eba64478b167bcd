package command

import (
	"context"
	"maps"
	"slices"
	"time"
)

// claim takes as many due commands as there is room for and starts to send them.
// It returns how long nothing more will be due.
func (d *Dispatcher) claim(ctx, work context.Context) (time.Duration, error) {
	var claimed []Record
	var next time.Time
	sending := d.underWay() // before the transaction: what is missing here has its outcome there
	err := d.Update(ctx, func(tx Tx) (err error) {
		if d.unsure {
			if err := tx.UnclaimCommands(d.Owner, sending); err != nil {
				return err
			}
		}
		if claimed, err = d.claimDue(tx); err != nil {
			return err
		}
		next, err = tx.NextCommand()
		return err
	})
	// A commit that was cut off may have taken place. This process then owns
	// commands that it does not know of, and that nobody else would take over.
	d.unsure = err != nil
	if err != nil {
		return 0, err
	}
	for _, r := range claimed {
		room := d.rooms[r.Command.Action]
		room.Take(r.Command.AgentID)
		d.mark(r.Command.ID, true)
		d.working.Go(func() {
			defer room.Leave(r.Command.AgentID)
			defer d.mark(r.Command.ID, false)
			d.dispatch(work, r)
		})
	}
	if next.IsZero() {
		return d.Poll, nil
	}
	return min(max(time.Until(next), 0), d.Poll), nil
}

// claimDue claims what there is room for, in every lane.
func (d *Dispatcher) claimDue(tx Tx) ([]Record, error) {
	lanes, err := tx.DueCommands()
	if err != nil {
		return nil, err
	}
	var claimed []Record
	taken := map[Action]int{}
	for _, lane := range lanes {
		room := min(d.rooms[lane.Action].Left(lane.AgentID), d.rooms[lane.Action].LeftInAll()-taken[lane.Action])
		if room <= 0 {
			continue
		}
		records, err := tx.ClaimCommands(d.Owner, lane, room)
		if err != nil {
			return nil, err
		}
		taken[lane.Action] += len(records)
		claimed = append(claimed, records...)
	}
	return claimed, nil
}

// mark keeps which commands this process is sending.
func (d *Dispatcher) mark(id string, sending bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if sending {
		d.sending[id] = true
	} else {
		delete(d.sending, id)
	}
}

// underWay returns the IDs of the commands that this process is sending.
func (d *Dispatcher) underWay() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.sending))
}
