package store

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// noticeSilence has the system give up a connection on which nothing that was sent
// is confirmed for a while. Without it that takes a quarter of an hour.
func noticeSilence(_, _ string, c syscall.RawConn) error {
	var err error
	if failed := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(peerTimeout.Milliseconds()))
	}); failed != nil {
		return failed
	}
	return ignoreUnix(err)
}

// ignoreUnix passes over what a Unix socket, which has no such option, says.
func ignoreUnix(err error) error {
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOPROTOOPT) {
		return nil
	}
	return err
}
