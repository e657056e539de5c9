package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"aalis/backend/fault"
	"aalis/backend/text"
)

var (
	v4 = netip.MustParseAddr("127.0.0.1")
	v6 = netip.MustParseAddr("::1")
)

// parseLoopback accepts exactly the addresses whose Host the door accepts. Every other bind is
// refused here, before a socket exists (SEC-01): there is no switch that opens it.
func parseLoopback(address string) (netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(address)
	if err == nil && host == "localhost" {
		address = net.JoinHostPort(v4.String(), port)
	}
	if at, err := netip.ParseAddrPort(address); err == nil && (at.Addr() == v4 || at.Addr() == v6) {
		return at, nil
	}
	return netip.AddrPort{}, fault.New(fault.Invalid, text.New("door.bind", "address", strconv.Quote(address)))
}

// bound are the listeners of one Run.
type bound struct {
	listeners []net.Listener
	first     netip.AddrPort
}

func (b bound) running(installation, epoch string) Running {
	return Running{
		URL:       "http://" + b.first.String(),
		PID:       os.Getpid(),
		StartedAt: time.Now().UTC().Truncate(time.Millisecond),
		Epoch:     epoch,
		TabURL:    "http://" + net.JoinHostPort(ownName(installation), strconv.Itoa(int(b.first.Port()))),
	}
}

func (b bound) close() {
	for _, l := range b.listeners {
		_ = l.Close()
	}
}

// listenAll opens every address, and with each its twin: the same port on the other loopback family.
// Browsers try both for our own name, so whoever held the twin would be sent the cookie.
func listenAll(addresses []string, otherPort bool, l Limits) (bound, error) {
	var b bound
	open := new(atomic.Int64)
	for _, address := range addresses {
		at, err := parseLoopback(address)
		if err != nil {
			b.close()
			return bound{}, err
		}
		pair, err := listenPair(at, otherPort)
		if err != nil {
			b.close()
			return bound{}, err
		}
		for _, listener := range pair {
			b.listeners = append(b.listeners, &guarded{Listener: listener, limits: l, open: open})
		}
		if !b.first.IsValid() {
			b.first = pair[0].Addr().(*net.TCPAddr).AddrPort()
		}
	}
	return b, nil
}

// pairTries bounds the search for a port that is free in both families.
const pairTries = 20

func listenPair(at netip.AddrPort, otherPort bool) ([]net.Listener, error) {
	var taken error
	for range pairTries {
		pair, err := tryPair(at)
		if err == nil {
			return pair, nil
		}
		if !isOne(err, errTaken) {
			return nil, err
		}
		taken = fault.Wrap(fault.Conflict, text.New("door.port-taken", "address", at.String()), err)
		if at.Port() != 0 {
			if !otherPort {
				return nil, taken
			}
			at = netip.AddrPortFrom(at.Addr(), 0)
		}
	}
	return nil, taken
}

// tryPair listens on at and its twin. A family that this machine lacks is left out: on a machine
// with IPv6 only, 127.0.0.1 is served on ::1 alone.
func tryPair(at netip.AddrPort) ([]net.Listener, error) {
	twin := v6
	if at.Addr() == v6 {
		twin = v4
	}
	first, err := listen(at)
	if err != nil {
		return nil, err
	}
	if first != nil {
		at = first.Addr().(*net.TCPAddr).AddrPort()
	}
	second, err := listen(netip.AddrPortFrom(twin, at.Port()))
	if err != nil {
		if first != nil {
			_ = first.Close()
		}
		return nil, err
	}
	var pair []net.Listener
	for _, l := range []net.Listener{first, second} {
		if l != nil {
			pair = append(pair, l)
		}
	}
	if len(pair) == 0 {
		return nil, fault.New(fault.Unsupported, text.New("door.no-loopback"))
	}
	return pair, nil
}

// listen gives nil where the machine does not have the address at all.
func listen(at netip.AddrPort) (net.Listener, error) {
	network := "tcp4"
	if at.Addr().Is6() {
		network = "tcp6"
	}
	l, err := net.Listen(network, at.String())
	switch {
	case isOne(err, errLacking):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("listening on %s: %w", at, err)
	}
	return l, nil
}

func isOne(err error, of []error) bool {
	return slices.ContainsFunc(of, func(target error) bool { return errors.Is(err, target) })
}

// guarded makes every accepted connection a corkConn and bounds their number: one too many is closed
// at once, so that the accept queue never stands still.
type guarded struct {
	net.Listener
	limits Limits
	open   *atomic.Int64 // over all listeners
}

// sendBuffer keeps the kernel from swallowing what a stuck client does not read, which would hide
// that it is stuck.
const sendBuffer = 96 << 10

func (g *guarded) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if g.open.Add(1) > int64(g.limits.Connections) {
			g.open.Add(-1)
			_ = c.Close()
			continue
		}
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetWriteBuffer(sendBuffer) // a wish: without it only the noticing is later
		}
		return newCorkConn(c, g.limits.WriteTime, func() { g.open.Add(-1) }), nil
	}
}

// selfCheck asks a listener of ours for its health over a plain connection, which no proxy setting
// can divert. Only an answer counts, whatever it says.
func selfCheck(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, selfCheckWithin)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("reaching our own listener %s: %w", address, err)
	}
	defer c.Close()
	end, _ := ctx.Deadline()
	_ = c.SetDeadline(end)
	if _, err := fmt.Fprintf(c, "GET /v1/health HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", address); err != nil {
		return fmt.Errorf("asking our own listener %s: %w", address, err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return fmt.Errorf("waiting for our own listener %s: %w", address, err)
	}
	return answer.Body.Close()
}
