// Package interop tests Agent Taskbay against software of others: agents and
// clients on the official SDKs of other languages. What each needs is installed
// into a cache folder, never into the source tree.
package interop
