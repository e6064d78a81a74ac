package payment

import (
	"time"

	"github.com/google/uuid"
)

// OrderStatus is what has become of the purchase (contract 3.2).
type OrderStatus string

const (
	OrderSubmitting  OrderStatus = "PENDING_PAYMENT_SUBMISSION"
	OrderPending     OrderStatus = "PENDING"
	OrderCompleted   OrderStatus = "COMPLETED"
	OrderFailed      OrderStatus = "FAILED"
	OrderRefunded    OrderStatus = "REFUNDED"
	OrderChargedBack OrderStatus = "CHARGEDBACK"
)

// Order is the purchase that a session's attempts try to pay. It is made with
// the first attempt and kept by later ones.
type Order struct {
	ID        uuid.UUID
	SessionID uuid.UUID
	Number    string
	Status    OrderStatus
	CreatedAt time.Time
	UpdatedAt time.Time
}
