package worker

import "sync"

// Room bounds what is under way at once: in all, and for each agent, so that an
// agent that hangs holds up nobody else. It is safe for concurrent use.
type Room struct {
	all, each int
	freed     chan struct{}

	mu      sync.Mutex
	used    int
	byAgent map[string]int
}

// NewRoom returns an empty room for so many in all, and so many of each agent.
func NewRoom(all, each int) *Room {
	return &Room{all: all, each: each, freed: make(chan struct{}, 1), byAgent: map[string]int{}}
}

// Left returns for how many more of an agent there is room.
func (r *Room) Left(agentID string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(min(r.all-r.used, r.each-r.byAgent[agentID]), 0)
}

// LeftInAll returns for how many more there is room, whosever they are.
func (r *Room) LeftInAll() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(r.all-r.used, 0)
}

// Take takes room for one of an agent.
func (r *Room) Take(agentID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used++
	r.byAgent[agentID]++
}

// Leave gives the room for one of an agent back.
func (r *Room) Leave(agentID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used--
	if r.byAgent[agentID]--; r.byAgent[agentID] == 0 {
		delete(r.byAgent, agentID)
	}
	select {
	case r.freed <- struct{}{}:
	default:
	}
}

// Freed gets a signal after room was given back; signals that come while one
// waits to be received are one.
func (r *Room) Freed() <-chan struct{} { return r.freed }
