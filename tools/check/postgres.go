package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// server is a PostgreSQL of our own, whatever else runs on this machine: its
// data is in a temporary directory, and it need not survive a power failure.
type server struct {
	dir  string
	as   *syscall.Credential // nil: as we are
	url  string
	stop func()
}

// startPostgres returns the URL of a server that runs until stop is called.
func startPostgres(ctx context.Context) (url string, stop func(), err error) {
	s := &server{}
	if s.dir, err = os.MkdirTemp("", "taskbay-check-"); err != nil {
		return "", nil, err
	}
	remove := func() { _ = os.RemoveAll(s.dir) }
	if err := s.start(ctx); err != nil {
		remove()
		return "", nil, err
	}
	return s.url, func() {
		// The context may be over; the server must end nevertheless.
		_ = s.run(context.WithoutCancel(ctx), "pg_ctl", "stop", "--mode=immediate", "--silent", "--pgdata="+s.data())
		remove()
	}, nil
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

func (s *server) start(ctx context.Context) error {
	if err := s.leaveRoot(); err != nil {
		return err
	}
	password := filepath.Join(s.dir, "password")
	secret := rand.Text()
	if err := s.write(password, secret); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	if err := s.run(ctx, "initdb", "--pgdata="+s.data(), "--username=postgres", "--auth=scram-sha-256",
		"--pwfile="+password, "--encoding=UTF8", "--no-locale", "--no-sync"); err != nil {
		return err
	}
	options := fmt.Sprintf("-c listen_addresses=127.0.0.1 -c port=%d -c unix_socket_directories='' "+
		"-c max_connections=300 -c fsync=off -c full_page_writes=off", port)
	if err := s.run(ctx, "pg_ctl", "start", "--wait", "--silent", "--pgdata="+s.data(),
		"--log="+filepath.Join(s.dir, "log"), "--options="+options); err != nil {
		log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		return fmt.Errorf("%w\n%s", err, shorten(string(log)))
	}
	s.url = fmt.Sprintf("postgres://postgres:%s@127.0.0.1:%d/postgres?sslmode=disable", secret, port)
	return nil
}

// leaveRoot hands the directory to another user if we are root, as whom
// PostgreSQL refuses to run.
func (s *server) leaveRoot() error {
	if os.Geteuid() != 0 {
		return nil
	}
	other, err := user.Lookup("postgres")
	if err != nil {
		return err
	}
	uid, err := strconv.ParseUint(other.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(other.Gid, 10, 32)
	if err := cmp.Or(err, err2); err != nil {
		return err
	}
	s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(s.dir, int(uid), int(gid))
}

// write makes a file that the server may read.
func (s *server) write(path, content string) error {
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil || s.as == nil {
		return err
	}
	return os.Chown(path, int(s.as.Uid), int(s.as.Gid))
}

// run runs one of PostgreSQL's programs.
func (s *server) run(ctx context.Context, program string, arguments ...string) error {
	path, err := find(program)
	if err != nil {
		return err
	}
	cmd := command(ctx, path, arguments...)
	cmd.Dir = s.dir
	cmd.SysProcAttr.Credential = s.as
	// What it says goes to a file: the server keeps its standard output open.
	said, err := os.Create(filepath.Join(s.dir, "said"))
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = said, said
	if err := errors.Join(cmd.Run(), said.Close()); err != nil {
		text, _ := os.ReadFile(said.Name())
		return fmt.Errorf("%s: %w\n%s", program, err, shorten(string(text)))
	}
	return nil
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	return port, listener.Close()
}
