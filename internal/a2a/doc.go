// Package a2a holds A2A 1.0 content as the console keeps it: messages, parts,
// tasks, artifacts and stream events, decoded leniently from the agent's own
// JSON. Nothing is lost on the way: a data part keeps its exact JSON, a member
// or kind that is not known is kept as it came, and one bad part never costs the
// rest. Names are those of the A2A specification, sections 4.1 and 4.2.
package a2a
