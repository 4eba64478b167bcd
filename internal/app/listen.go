package app

import (
	"context"
	"fmt"
	"net"
)

// Listen listens on the address that an option gave. Its error is for the person
// who gave it, and names a way out.
func Listen(ctx context.Context, option, address string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w\nIs another program, or another taskbay, using it? %s 127.0.0.1:0 takes a free port", address, err, option)
	}
	return l, nil
}
