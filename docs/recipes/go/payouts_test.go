package payouts

import (
	"testing"
	"time"
)

var order = Payout{"order-1", "Asha Rao", "000123456789", "SBIN0000001", 1500.50, "IMPS"}

func clientOf(w World) Client { return Client{w.URL, w.APIKey, 2 * time.Second, 3} }

func TestAPayoutIsMadeOnceAlthoughTheFirstResponseNeverCame(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	world.rule(JSON{
		"name":   "lost-response",
		"match":  JSON{"route": "initiate", "attempt": 1},
		"effect": JSON{"commit": true, "fault": "hang"},
	})
	if status, err := clientOf(world).Pay(order); status != 200 || err != nil {
		t.Fatal(status, err)
	}
	if balance := world.balance(); balance != 998_499.50 {
		t.Error(balance)
	}
	world.verify(JSON{"sequence": []JSON{{"fault": "hang", "committed": true}, {"status": 200, "replayed": true}}})
}

func TestAPayoutIsAskedForWhenTheServiceResponsesNothingButErrors(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	world.rule(JSON{"match": JSON{"route": "initiate"}, "effect": JSON{"commit": true, "respond": JSON{"status": 500}}})
	if status, err := clientOf(world).Pay(order); status != 200 || err != nil {
		t.Fatal(status, err)
	}
	if balance := world.balance(); balance != 998_499.50 {
		t.Error(balance)
	}
}

func TestAPayoutSettlesWhenTheClockSaysSo(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	client := clientOf(world)
	world.freeze()
	if _, err := client.Pay(order); err != nil {
		t.Fatal(err)
	}
	for _, second := range []struct{ by, status string }{{"1s", "PENDING"}, {"1s", "SUCCESS"}} {
		world.advance(second.by)
		if status, err := client.Status(order.ClientRefID); status != second.status || err != nil {
			t.Error(status, err)
		}
	}
}

func TestARefusalIsNotSentAgain(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	world.rule(JSON{"match": JSON{"route": "initiate"}, "times": 1, "effect": JSON{"respond": JSON{"status": 402}}})
	if status, err := clientOf(world).Pay(order); status != 402 || err != nil {
		t.Fatal(status, err)
	}
	world.verify(JSON{"match": JSON{"route": "initiate"}, "count": JSON{"exactly": 1}})
}
