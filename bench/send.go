package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

// sending is a product in a process of its own, and agents in this one that it
// sends to.
type sending struct {
	agents  *agents
	product *process
	client  *caller
	ids     []string // of the agents
}

func startSending(ctx context.Context, b *bench, n, connections int) (s *sending, err error) {
	s = &sending{}
	if s.agents, err = startAgents(n, false); err != nil {
		return nil, err
	}
	if s.product, err = startProcess(role{Product: &b.place}); err != nil {
		return nil, errors.Join(err, s.agents.Close())
	}
	if s.client, err = newCaller(s.product.url, connections); err != nil {
		return nil, errors.Join(err, s.product.stop(), s.agents.Close())
	}
	if s.ids, err = s.client.register(ctx, s.agents.url, n); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *sending) stop() error {
	s.client.close()
	return errors.Join(s.product.stop(), s.agents.Close())
}

// arriveTime is how long a message may take to its agent before the run is given up.
const arriveTime = time.Minute

// measureLatency sends a message through the product and one by the SDK alone, by
// turns, to one agent: noise falls on both.
func measureLatency(ctx context.Context, b *bench) (err error) {
	s, err := startSending(ctx, b, 1, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	sdk, err := a2aclient.NewFromEndpoints(ctx, []*a2a.AgentInterface{a2a.NewAgentInterface(s.agents.url+"/0/rpc", a2a.TransportProtocolJSONRPC)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sdk.Destroy()) }()
	through := func(id string) error { return s.client.send(ctx, s.ids[0], id) }
	bare := func(id string) error {
		m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("Count me, please."))
		m.ID = id
		_, err := sdk.SendMessage(ctx, &a2a.SendMessageRequest{Message: m})
		return err
	}
	var product, alone []time.Duration
	warm := b.size.pairs/10 + 1 // connections are made, and code is read
	for i := range b.size.pairs + warm {
		p, err := s.toReceipt(ctx, through)
		if err != nil {
			return err
		}
		a, err := s.toReceipt(ctx, bare)
		if err != nil {
			return err
		}
		if i >= warm {
			product, alone = append(product, p), append(alone, a)
		}
	}
	ratio := func(d time.Duration) figure {
		return figure{Name: "p50 / bare p50", Value: float64(d) / float64(quantile(alone, 0.5))}
	}
	b.add("bare SDK call", append(quantiles(alone), ratio(quantile(alone, 0.5)))...)
	b.add("through Taskbay", append(quantiles(product), ratio(quantile(product, 0.5)))...)
	return nil
}

// toReceipt is how long a message is on its way to the agent. It waits for the
// sender's answer too, so that the next one finds nothing under way.
func (s *sending) toReceipt(ctx context.Context, send func(messageID string) error) (time.Duration, error) {
	id := uuid.NewString()
	arrives := s.agents.expect(id)
	began := time.Now()
	if err := send(id); err != nil {
		return 0, err
	}
	limit := time.NewTimer(arriveTime)
	defer limit.Stop()
	select {
	case at := <-arrives:
		return at.Sub(began), rest(ctx, quietTime)
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-limit.C:
		return 0, fmt.Errorf("a message did not reach the agent in %s", arriveTime)
	}
}

// quietTime is how long the product is left alone between two messages, to store
// what the agent answered.
const quietTime = 10 * time.Millisecond

// measureCommands has callers at once send as fast as they are answered.
func measureCommands(ctx context.Context, b *bench) (err error) {
	most := 1
	for _, n := range b.size.callers {
		most = max(most, n)
	}
	s, err := startSending(ctx, b, b.size.agents, most)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	for _, callers := range b.size.callers {
		if err := s.commands(ctx, b, callers); err != nil {
			return err
		}
	}
	return nil
}

func (s *sending) commands(ctx context.Context, b *bench, callers int) error {
	before, _ := s.agents.received()
	began := time.Now()
	var begun atomic.Int64
	times := make([][]time.Duration, callers)
	group, groupCtx := errgroup.WithContext(ctx)
	for caller := range callers {
		group.Go(func() error {
			for {
				n := begun.Add(1)
				if n > int64(b.size.commands) || time.Since(began) > b.size.commandTime {
					return nil
				}
				asked := time.Now()
				if err := s.client.send(groupCtx, s.ids[n%int64(len(s.ids))], uuid.NewString()); err != nil {
					return err
				}
				times[caller] = append(times[caller], time.Since(asked))
			}
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	accepted := time.Since(began)
	var all []time.Duration
	for _, t := range times {
		all = append(all, t...)
	}
	delivered, err := until(ctx, arriveTime, 5*time.Millisecond, func() (bool, error) {
		n, _ := s.agents.received()
		return n >= before+len(all), nil
	})
	if err == nil && !delivered {
		err = fmt.Errorf("not all of %d messages reached their agents in %s", len(all), arriveTime)
	}
	if err != nil {
		return err
	}
	_, last := s.agents.received()
	b.add(counted(callers, "caller")+", "+counted(len(s.ids), "agent"),
		figure{Name: "commands", Value: float64(len(all))}, perSecond("accepted", len(all), accepted), perSecond("delivered", len(all), last.Sub(began)),
		milliseconds("accepting p50", quantile(all, 0.5)), milliseconds("p99", quantile(all, 0.99)))
	return nil
}
