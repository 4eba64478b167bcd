package store

import (
	"database/sql"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
)

// dialect is what differs between the databases.
type dialect struct {
	name       goose.Dialect
	folder     string                    // of the migrations
	oneState   sql.IsolationLevel        // in which all reads of a transaction see one state
	forUpdate  string                    // see Tx.forUpdate
	skipLocked string                    // see Tx.skipLocked
	clock      string                    // the database's own time, in microseconds
	rebind     func(query string) string // writes the placeholders as the database has them
	isUnique   func(error) bool          // the breach of a unique constraint
	again      func(error) bool          // the transaction may succeed if it is run again
	away       func(error) string        // why the database cannot be used for now, for people; "" if that is not the reason
}

// numbered writes placeholders as $1, $2 and so on. No statement has a question
// mark in a literal.
func numbered(query string) string {
	var b strings.Builder
	b.Grow(len(query) + 16)
	for n := 1; ; n++ {
		before, after, found := strings.Cut(query, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
		query = after
	}
}
