package gateway

import (
	"context"

	"ackmark/refserver/delivery"
	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// Service is what the gateway hands requests on to. Errors are *wire.Fault.
type Service interface {
	Hello(ctx context.Context, user string, h *wire.Hello) (*wire.Welcome, error)
	Send(ctx context.Context, user string, m *wire.Send) (*wire.SendResult, error)
	Pull(ctx context.Context, user string, r *wire.PageRequest) (*wire.Page, error)
	Sync(ctx context.Context, user string, r *wire.SyncRequest) (*wire.Sync, error)
	Ack(ctx context.Context, user string, a *wire.Ack) (*wire.AckResult, error)
	Counts(ctx context.Context, user string, r *wire.CountsRequest) (*wire.Counts, error)
	Friends(ctx context.Context, user string, r *wire.FriendsRequest) (*wire.Friends, error)

	CreateUsers(ctx context.Context, users []string) error
	AddMembers(ctx context.Context, group string, members []string) (added int, err error)
	RemoveMembers(ctx context.Context, group string, members []string) (removed int, err error)
	AddFriends(ctx context.Context, user string, friends []string) (added int, err error)

	// Connect opens a session on a connection and queues the welcome.
	Connect(ctx context.Context, conn *push.Conn, h *wire.Hello) (Session, error)
}

// Session takes the frames of one connection. Handle doesn't keep the view; it
// answers a bad request with an error frame, and an error that it returns ends
// the connection.
type Session interface {
	Handle(ctx context.Context, v *wire.View) error
	Close()
}

// Deliver makes a Service of the delivery room.
func Deliver(s *delivery.Service) Service { return deliveryService{s} }

type deliveryService struct{ *delivery.Service }

func (d deliveryService) Connect(ctx context.Context, conn *push.Conn, h *wire.Hello) (Session, error) {
	s, err := d.Service.Connect(ctx, conn, h)
	if err != nil {
		return nil, err
	}
	return s, nil
}
