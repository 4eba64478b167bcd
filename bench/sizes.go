package main

import "time"

// sizes are how large the loads are. Each load ends when its count or its time is
// reached, whichever is first.
type sizes struct {
	pairs int // of a command and a bare call

	callers     []int
	agents      int // that commands go to
	commands    int // for each number of callers
	commandTime time.Duration

	events     int // for each number of tasks
	eventTasks []int
	eventTime  time.Duration

	histories     []int // events that a task has before
	historyRounds int

	streams    []int // rising
	streamTime time.Duration
	streamRest time.Duration // before memory is looked at: a process gives back what it used for a moment

	watchers []int
	changes  int

	tasks    int
	reads    int // of each list
	readTime time.Duration
}

func fullSizes() sizes {
	return sizes{
		pairs:   300,
		callers: []int{1, 8, 64}, agents: 16, commands: 1500, commandTime: 5 * time.Second,
		events: 5000, eventTasks: []int{1, 1000}, eventTime: 5 * time.Second,
		histories: []int{10, 1000, 100_000}, historyRounds: 300,
		streams: []int{2000, 10_000}, streamTime: 25 * time.Second, streamRest: 2 * time.Second,
		watchers: []int{1, 1000}, changes: 15,
		tasks: 1_000_000, reads: 100, readTime: 2 * time.Second,
	}
}

func shortSizes() sizes {
	return sizes{
		pairs:   50,
		callers: []int{1, 8, 64}, agents: 16, commands: 300, commandTime: 2 * time.Second,
		events: 1000, eventTasks: []int{1, 100}, eventTime: 3 * time.Second,
		histories: []int{10, 1000, 100_000}, historyRounds: 50,
		streams: []int{200, 1000}, streamTime: 10 * time.Second, streamRest: 2 * time.Second,
		watchers: []int{1, 200}, changes: 5,
		tasks: 100_000, reads: 20, readTime: 2 * time.Second,
	}
}

// smallestSizes are for the test that each measurement still yields figures.
func smallestSizes() sizes {
	return sizes{
		pairs:   2,
		callers: []int{2}, agents: 2, commands: 4, commandTime: time.Minute,
		events: 4, eventTasks: []int{1, 2}, eventTime: time.Minute,
		histories: []int{10, 20}, historyRounds: 2,
		streams: []int{2, 4}, streamTime: time.Minute, streamRest: time.Millisecond,
		watchers: []int{2}, changes: 1,
		tasks: 200, reads: 1, readTime: time.Minute,
	}
}
