package server

import (
	"context"
	"net"
	"time"
)

// silence is how long a client may acknowledge nothing of what was sent to it.
const silence = 20 * time.Second

// bounded makes a connection end when its client has vanished, so that what waits for it ends, too. The
// system would try for 15 minutes.
func bounded(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok { // of TLS
		c = t.NetConn()
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: silence / 2, Interval: silence / 4, Count: 2}) // while nothing is sent
		limitSilence(t)
	}
	return ctx
}
