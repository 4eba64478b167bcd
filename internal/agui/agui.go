// Package agui is the AG-UI adapter: it lets any AG-UI client drive an agent. A run
// is one durable command of the command service; its events are translated from
// what is committed about the task, so a stream that breaks loses nothing.
//
// The official clients end a run, some of them the whole program, over a stream that
// breaks one of their rules. So every event passes one state machine, the sequence,
// and what it refuses is not sent. The rules are those of @ag-ui/client 1.0.0 and
// 0.0.59 together, as measured; docs/ag-ui.md has the mapping.
package agui
