// Package apifuzz makes requests that the API's description allows, nearly allows
// and forbids, and holds every answer to that description.
package apifuzz
