package worker

import "time"

// Backlog is what waits in the database, for all processes together.
type Backlog struct {
	Pending, Dispatching, Uncertain int // commands
	Commands, Checks                Queue
	TasksOpen, TasksNeedYou         int
	Workers                         int // with a lease
}

// Queue is work that is due.
type Queue struct {
	Due    int
	Oldest time.Duration // for how long the first of it has been due
}
