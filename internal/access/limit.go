package access

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Limits are how many requests are answered in a minute: of one person, whatever they
// come by, and all sign-ins together. Members that are 0 stand for the usual ones.
type Limits struct {
	Reads          int64 `name:"limit-reads" default:"900" env:"TASKBAY_LIMIT_READS" placeholder:"N" help:"How many pages, reads and live streams one person is answered in a minute."`
	Operations     int64 `name:"limit-operations" default:"120" env:"TASKBAY_LIMIT_OPERATIONS" placeholder:"N" help:"How many commands and other operations on agents one person makes in a minute."`
	Administrative int64 `name:"limit-administrative" default:"60" env:"TASKBAY_LIMIT_ADMINISTRATIVE" placeholder:"N" help:"How many changes of settings, and of what is one's own, one person makes in a minute."`
	SignIns        int64 `name:"limit-sign-ins" default:"240" env:"TASKBAY_LIMIT_SIGN_INS" placeholder:"N" help:"How many requests of signing in are answered in a minute, of all people together."`
}

// Unlimited are limits that nobody comes to, for tests and measurements.
func Unlimited() Limits {
	return Limits{Reads: math.MaxInt32, Operations: math.MaxInt32, Administrative: math.MaxInt32, SignIns: math.MaxInt32}
}

// Validate returns an error, in words for the person who set them, if nobody could be
// let in by the limits.
func (l Limits) Validate() error {
	for name, limit := range map[string]int64{
		"--limit-reads": l.Reads, "--limit-operations": l.Operations, "--limit-administrative": l.Administrative, "--limit-sign-ins": l.SignIns,
	} {
		if limit < 0 {
			return fmt.Errorf("%s is at least 1", name)
		}
	}
	return nil
}

// limit returns what a need counts as, and how often a minute; "" if it does not count.
func (l Limits) limit(n Need) (kind string, limit int64) {
	or := func(given, usual int64) int64 {
		if given == 0 {
			return usual
		}
		return given
	}
	switch n {
	case NeedRead:
		return "read", or(l.Reads, 900)
	case NeedOperate:
		return "operate", or(l.Operations, 120)
	case NeedAdminister, NeedOwn:
		return "administer", or(l.Administrative, 60)
	case NeedSignIn:
		return "sign-in", or(l.SignIns, 240)
	}
	return "", 0
}

// blocks is in how many blocks processes take an allowance from the record: each
// writes at most so often a minute for one person, and leaves at most one block of it
// unused.
const blocks = 30

// AllowanceTx is a transaction of the record as limits need it.
type AllowanceTx interface {
	// TakeAllowance takes up to n of what is left of somebody's allowance in the
	// present minute of the database's clock, and returns how many it got, and when
	// that minute ends.
	TakeAllowance(who, kind string, n, limit int64) (granted int64, left time.Duration, err error)
}

// Limiter counts requests by the minute. It is safe for concurrent use.
type Limiter struct {
	Limits Limits
	// Update is how processes that share the record share the limits; nil for a
	// process that is alone, which counts by itself. While the record takes no writes
	// all of them do that, as there is still something to read.
	Update func(context.Context, func(AllowanceTx) error) error
	Now    func() time.Time // nil is time.Now

	mu     sync.Mutex
	counts map[counted]*count
	swept  time.Time
}

type counted struct{ who, kind string }

// count is what is left in one minute.
type count struct {
	mu   sync.Mutex
	left int64 // of what was taken
	last bool  // there is no more to take
	ends time.Time
}

// Take counts one request of somebody. It returns how long they have to wait if they
// have made as many as they may in this minute, and 0 otherwise.
func (l *Limiter) Take(ctx context.Context, p Principal, n Need) (wait time.Duration, err error) {
	kind, limit := l.Limits.limit(n)
	if kind == "" {
		return 0, nil
	}
	who := p.PersonID
	if n == NeedSignIn {
		who = ""
	}
	now := time.Now
	if l.Now != nil {
		now = l.Now
	}
	c := l.count(counted{who, kind}, now())
	c.mu.Lock()
	defer c.mu.Unlock()
	if !now().Before(c.ends) {
		c.left, c.last = 0, false
	}
	if c.left == 0 && !c.last {
		var left time.Duration
		if c.left, c.last, left, err = l.more(ctx, who, kind, limit, now()); err != nil {
			return 0, err
		}
		c.ends = now().Add(left)
	}
	if c.left == 0 {
		return max(c.ends.Sub(now()), time.Second), nil
	}
	c.left--
	return 0, nil
}

// more returns what else there is to use in this minute, whether it is the last of it,
// and when the minute ends.
func (l *Limiter) more(ctx context.Context, who, kind string, limit int64, now time.Time) (granted int64, last bool, left time.Duration, err error) {
	if l.Update != nil {
		err = l.Update(ctx, func(tx AllowanceTx) (err error) {
			granted, left, err = tx.TakeAllowance(who, kind, max(1, limit/blocks), limit)
			return err
		})
		if fault.KindOf(err) != fault.Unavailable {
			return granted, granted == 0, left, err
		}
	}
	return limit, true, now.Truncate(time.Minute).Add(time.Minute).Sub(now), nil
}

// count returns the count of somebody. Those of past minutes are forgotten once a
// minute.
func (l *Limiter) count(key counted, now time.Time) *count {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.counts = map[counted]*count{}
	}
	if now.Sub(l.swept) >= time.Minute {
		l.swept = now
		for k, c := range l.counts {
			if c.mu.TryLock() {
				if !now.Before(c.ends) {
					delete(l.counts, k)
				}
				c.mu.Unlock()
			}
		}
	}
	if l.counts[key] == nil {
		l.counts[key] = &count{}
	}
	return l.counts[key]
}
