package payouts

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

const order = `{"client_ref_id": "order-1", "beneficiary_name": "Asha Rao", "beneficiary_account": "000123456789",
  "beneficiary_ifsc": "SBIN0000001", "amount": 1500.50, "transfer_mode": "IMPS"}`

func startSandbox(t *testing.T) string {
	t.Helper()
	ctx := context.Background()
	container, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		ContainerRequest: testcontainers.ContainerRequest{
			Image:        "payout-sandbox",
			ExposedPorts: []string{"3000/tcp"},
			Env:          map[string]string{"SANDBOX_CLOCK": "2026-01-15T10:30:00Z"},
			WaitingFor:   wait.ForHTTP("/_sandbox/health").WithPort("3000/tcp"),
		},
		Started: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = container.Terminate(ctx) })
	url, err := container.PortEndpoint(ctx, "3000/tcp", "http")
	if err != nil {
		t.Fatal(err)
	}
	return url
}

func post(t *testing.T, url, key, json string) string {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(json))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 200 {
		t.Fatal(response.Status, string(body), err)
	}
	return string(body)
}

func TestAPayoutSettlesWhenTheClockSaysSo(t *testing.T) {
	url := startSandbox(t)
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		t.Fatal(err)
	}
	key := fmt.Sprintf("sk_test_%x", id) // a fresh world
	post(t, url+"/payout/initiate", key, order)
	if settled := post(t, url+"/_sandbox/clock/advance", key, `{"by":"2s"}`); !strings.Contains(settled, `"to":"SUCCESS"`) {
		t.Error(settled)
	}
}
