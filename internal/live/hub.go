// Package live wakes those who watch. A signal only says that something of a
// topic changed: what it was is read from the database, so a watcher that is
// slow, or misses a signal, loses nothing.
package live

import (
	"maps"
	"strings"
	"sync"
)

// TaskTopic is the topic of one task, by its local ID.
func TaskTopic(id string) string { return "task/" + id }

// OrganisationTopic is the topic of everything in an organisation.
func OrganisationTopic(id string) string { return "organisation/" + id }

// AccessTopic is the topic of who may do what in an organisation: of its members,
// their roles and grants, and of sessions and tokens that end.
func AccessTopic(organisationID string) string { return accessTopics + organisationID }

const accessTopics = "access/"

// CommandsTopic is the topic of everything that dispatchers of commands wait for.
const CommandsTopic = "commands"

// AuditTopic is the topic of entries of the trail that are not sealed yet.
const AuditTopic = "audit"

// ChecksTopic is the topic of checks that somebody asked for.
const ChecksTopic = "checks"

// Hub connects those who change things with those who watch. The zero value is
// ready to use. It is safe for concurrent use.
type Hub struct {
	mu       sync.Mutex
	watchers map[string]map[chan struct{}]struct{}
}

// Watch returns a channel that gets a signal after each publication on any of
// the topics; signals that come while one waits to be received are one signal.
// The caller must call stop when it no longer watches.
func (h *Hub) Watch(topics ...string) (signals <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers == nil {
		h.watchers = make(map[string]map[chan struct{}]struct{})
	}
	for _, t := range topics {
		if h.watchers[t] == nil {
			h.watchers[t] = make(map[chan struct{}]struct{})
		}
		h.watchers[t][c] = struct{}{}
	}
	return c, func() { h.forget(c, topics) }
}

func (h *Hub) forget(c chan struct{}, topics []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range topics {
		delete(h.watchers[t], c)
		if len(h.watchers[t]) == 0 {
			delete(h.watchers, t)
		}
	}
}

// Watchers is how many watch, without those who only watch over access.
func (h *Hub) Watchers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	different := make(map[chan struct{}]struct{})
	for topic, watchers := range h.watchers {
		if strings.HasPrefix(topic, accessTopics) {
			continue
		}
		maps.Copy(different, watchers)
	}
	return len(different)
}

// Publish signals everyone who watches one of the topics. It never blocks.
func (h *Hub) Publish(topics ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range topics {
		signal(h.watchers[t])
	}
}

// PublishAll signals everyone. It never blocks.
func (h *Hub) PublishAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, watchers := range h.watchers {
		signal(watchers)
	}
}

func signal(watchers map[chan struct{}]struct{}) {
	for c := range watchers {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
