package wire

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// link is one connection on its way through.
type link struct {
	proxy          *Proxy
	client, server net.Conn
	once           sync.Once
	// due is what is to happen to the server's next answer.
	due atomic.Pointer[hit]
	// held is set when nothing arrives any more, and closed when that is over.
	held atomic.Pointer[hit]
}

// cut closes both ends: in good order, or as a host does that has lost its memory.
func (l *link) cut(reset bool) {
	l.once.Do(func() {
		for _, conn := range []net.Conn{l.client, l.server} {
			if tcp, ok := conn.(*net.TCPConn); ok && reset {
				_ = tcp.SetLinger(0)
			}
			_ = conn.Close()
		}
	})
}

// maxMessage is the longest message of a client's that is handed on.
const maxMessage = 64 << 20

var errMessage = errors.New("a message is too long")

// requests hands on what the client says, a message at a time.
func (l *link) requests() {
	defer l.cut(false)
	first, err := message(l.client, 0)
	if err != nil {
		return
	}
	if _, err := l.server.Write(first); err != nil {
		return
	}
	for {
		m, err := message(l.client, 1)
		if err != nil {
			return
		}
		if !l.request(m) {
			return
		}
	}
}

// request hands one message on, and reports whether the connection is still there.
func (l *link) request(m []byte) bool {
	asks, commits := reading(m)
	if asks {
		switch h := l.proxy.draw(commits, len(m)); h.kind {
		case Request:
			_, _ = l.server.Write(m[:h.bytes])
			l.cut(h.reset)
			return false
		case Reply, Commit:
			l.due.Store(&h)
		case Half:
			l.held.Store(&h)
		case Delay:
			late(h)
		}
	}
	if h := l.held.Load(); h != nil {
		<-h.healed
		l.cut(h.reset)
		return false
	}
	_, err := l.server.Write(m)
	return err == nil
}

// late waits as long as the message is to be late, or until that is healed.
func late(h hit) {
	timer := time.NewTimer(h.late)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-h.healed:
	}
}

// reading says whether a client's message asks for an answer, and whether it is a
// COMMIT.
func reading(m []byte) (asks, commits bool) {
	switch m[0] {
	case 'S':
		return true, false
	case 'Q':
		var q pgproto3.Query
		if err := q.Decode(m[5:]); err != nil {
			return true, false
		}
		return true, strings.EqualFold(strings.TrimSuffix(strings.TrimSpace(q.String), ";"), "commit")
	}
	return false, false
}

// replies hands on what the server says, as it comes.
func (l *link) replies() {
	defer l.cut(false)
	buffer := make([]byte, 32<<10)
	for {
		n, err := l.server.Read(buffer)
		if h := l.due.Load(); h != nil && n > 0 {
			_, _ = l.client.Write(buffer[:min(n, h.bytes)])
			l.cut(h.reset)
			return
		}
		if h := l.held.Load(); h != nil {
			<-h.healed
			l.cut(h.reset)
			return
		}
		if n > 0 {
			if _, err := l.client.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// message reads one message: its type, of which the first of a connection has none,
// its length, which counts itself, and what it says.
func message(from io.Reader, kind int) ([]byte, error) {
	head := make([]byte, kind+4)
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, err
	}
	size := int(binary.BigEndian.Uint32(head[kind:]))
	if size < 4 || size > maxMessage {
		return nil, errMessage
	}
	m := make([]byte, kind+size)
	copy(m, head)
	_, err := io.ReadFull(from, m[len(head):])
	return m, err
}
