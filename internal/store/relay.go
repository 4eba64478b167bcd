package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// What the relay keeps to.
const (
	notifyGap     = 5 * time.Millisecond // between two notifications of one process; what changes meanwhile goes into one
	notifyBytes   = 7000                 // of one notification; PostgreSQL takes less than 8000
	notifyTime    = 5 * time.Second      // for sending one
	listenRetry   = time.Second          // between attempts to listen again
	listenTimeout = 30 * time.Second     // for one attempt
)

// relay is the Publisher of one process among several: what this one changes is
// published here at once and sent to the others, and what they send is published
// here. A notification only wakes: one that is lost costs a delay, never data.
// After a break everyone here is woken, as nobody knows what was missed.
type relay struct {
	local   Publisher
	pool    *sql.DB
	config  *pgx.ConnConfig
	channel string
	origin  string // names this process in what it sends

	stop    context.CancelFunc
	running sync.WaitGroup
	wake    chan struct{}

	mu    sync.Mutex
	dirty map[string]struct{} // topics that the others do not know of yet
}

// newRelay starts to listen, so that nothing that changes from now on is missed.
func newRelay(ctx context.Context, config *pgx.ConnConfig, pool *sql.DB, local Publisher) (*relay, error) {
	r := &relay{local: local, pool: pool, config: config, origin: uuid.NewString(), wake: make(chan struct{}, 1), dirty: map[string]struct{}{}}
	// Databases and schemas do not hear each other; channels are the database's.
	if err := pool.QueryRowContext(ctx, "SELECT 'taskbay ' || current_schema()").Scan(&r.channel); err != nil {
		return nil, fmt.Errorf("read the schema's name: %w", err)
	}
	conn, err := r.listen(ctx)
	if err != nil {
		return nil, err
	}
	ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	r.running.Go(func() { r.receive(ctx, conn) })
	r.running.Go(func() { r.send(ctx) })
	return r, nil
}

// Close stops the relay. What it has not sent, the others find without it.
func (r *relay) Close() error {
	r.stop()
	r.running.Wait()
	return nil
}

// Publish implements Publisher.
func (r *relay) Publish(topics ...string) {
	r.local.Publish(topics...)
	r.mu.Lock()
	for _, t := range topics {
		r.dirty[t] = struct{}{}
	}
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// PublishAll implements Publisher.
func (r *relay) PublishAll() { r.local.PublishAll() }

func (r *relay) listen(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, listenTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, r.config)
	if err != nil {
		return nil, fmt.Errorf("connect to listen: %w", err)
	}
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{r.channel}.Sanitize()); err != nil {
		return nil, errors.Join(fmt.Errorf("listen: %w", err), conn.Close(ctx))
	}
	return conn, nil
}

// receive publishes here what the others send, until ctx ends.
func (r *relay) receive(ctx context.Context, conn *pgx.Conn) {
	for ctx.Err() == nil {
		if conn != nil {
			r.publishReceived(ctx, conn)
		}
		wait(ctx, listenRetry)
		var err error
		if conn, err = r.listen(ctx); err == nil {
			r.local.PublishAll()
		}
	}
	if conn != nil {
		closeSoon(ctx, conn)
	}
}

// publishReceived returns when the connection breaks or ctx ends.
func (r *relay) publishReceived(ctx context.Context, conn *pgx.Conn) {
	defer closeSoon(ctx, conn)
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return
		}
		topics := strings.Split(n.Payload, "\n")
		if topics[0] != r.origin {
			r.local.Publish(topics[1:]...)
		}
	}
}

func closeSoon(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // it is gone either way
}

// send tells the others, a little later so that many changes are one notification.
func (r *relay) send(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		}
		for _, payload := range r.payloads() {
			r.notify(ctx, payload)
		}
		wait(ctx, notifyGap)
	}
}

// payloads takes the dirty topics, as few notifications.
func (r *relay) payloads() []string {
	r.mu.Lock()
	topics := r.dirty
	r.dirty = map[string]struct{}{}
	r.mu.Unlock()
	var all []string
	var b strings.Builder
	for t := range topics {
		if b.Len()+len(t) > notifyBytes {
			all = append(all, b.String())
			b.Reset()
		}
		if b.Len() == 0 {
			b.WriteString(r.origin)
		}
		b.WriteString("\n" + t)
	}
	if b.Len() > 0 {
		all = append(all, b.String())
	}
	return all
}

// notify leaves a failure at that: the database is away, and who listens is woken
// when it is back.
func (r *relay) notify(ctx context.Context, payload string) {
	ctx, cancel := context.WithTimeout(ctx, notifyTime)
	defer cancel()
	_, _ = r.pool.ExecContext(ctx, "SELECT pg_notify($1, $2)", r.channel, payload)
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
