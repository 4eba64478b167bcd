package remote

import "time"

// Limits bound what one exchange may cost. Times that an agent exceeds end the
// call with an error that says so.
type Limits struct {
	Connect time.Duration // to a connection, and again to its TLS handshake
	Headers time.Duration // from the request to the head of the answer; calls that only read, and cards
	Send    time.Duration // the same for SendMessage: many agents block though they are asked not to
	Body    time.Duration // from the head of an answer to its end, streams aside
	Idle    time.Duration // of a stream without a byte, comments included; also to the head of its answer

	Response int64 // bytes of one answer, or of one event of a stream, after decompression
	Card     int64 // bytes of a card
}

// DefaultLimits are the limits that apply where none are set.
func DefaultLimits() Limits {
	return Limits{
		Connect:  10 * time.Second,
		Headers:  30 * time.Second,
		Send:     5 * time.Minute,
		Body:     2 * time.Minute,
		Idle:     time.Minute,
		Response: 25 << 20,
		Card:     2 << 20,
	}
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	for _, f := range []struct{ value, or *time.Duration }{
		{&l.Connect, &d.Connect}, {&l.Headers, &d.Headers}, {&l.Send, &d.Send}, {&l.Body, &d.Body}, {&l.Idle, &d.Idle},
	} {
		if *f.value <= 0 {
			*f.value = *f.or
		}
	}
	if l.Response <= 0 {
		l.Response = d.Response
	}
	if l.Card <= 0 {
		l.Card = d.Card
	}
	return l
}
