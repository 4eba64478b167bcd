package live

import (
	"sync"
	"testing"
)

func waiting(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestHub(t *testing.T) {
	t.Parallel()
	var h Hub
	h.Publish("a") // to nobody
	both, stopBoth := h.Watch("a", "b")
	one, stopOne := h.Watch("a")
	defer stopOne()

	h.Publish("b")
	if !waiting(both) || waiting(one) {
		t.Error("a publication on b did not reach exactly those who watch b")
	}
	h.Publish("a", "b")
	h.Publish("a")
	if !waiting(both) || waiting(both) {
		t.Error("publications that nobody has received yet are not one signal")
	}
	stopBoth()
	h.Publish("a")
	if waiting(both) {
		t.Error("a signal came after the end of the watch")
	}
	if !waiting(one) {
		t.Error("another's end took the signal")
	}
}

func TestHubForgets(t *testing.T) {
	t.Parallel()
	var h Hub
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			_, stop := h.Watch("a", "b", "a")
			h.Publish("a")
			stop()
			stop()
		})
	}
	all.Wait()
	if len(h.watchers) != 0 {
		t.Errorf("%d topics are remembered with nobody watching", len(h.watchers))
	}
}
