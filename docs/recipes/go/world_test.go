package payouts

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"
)

// World is a new world of a running payout sandbox: what one key sees. No other test has this key.
type World struct {
	t           *testing.T
	URL, APIKey string
}

// JSON is an object that is sent to the sandbox or received from it.
type JSON = map[string]any

func newWorld(t *testing.T) World {
	t.Helper()
	base := os.Getenv("PAYOUT_URL")
	if base == "" {
		base = "http://127.0.0.1:3000"
	}
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		t.Fatal(err)
	}
	world := World{t, base, fmt.Sprintf("sk_test_%x", id)}
	t.Cleanup(world.expectGoodConduct)
	return world
}

// control is one call of the control API, say control("POST", "/clock/advance", JSON{"by": "2h"}).
func (w World) control(method, path string, body JSON) JSON {
	w.t.Helper()
	sent := new(bytes.Buffer)
	if body != nil {
		if err := json.NewEncoder(sent).Encode(body); err != nil {
			w.t.Fatal(err)
		}
	}
	request, err := http.NewRequest(method, w.URL+"/_sandbox"+path, sent)
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+w.APIKey)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	var answer JSON
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		w.t.Fatal(err)
	}
	if response.StatusCode >= 300 {
		w.t.Fatalf("%s %s: %v", method, path, answer)
	}
	return answer
}

func (w World) freeze()        { w.t.Helper(); w.control("POST", "/clock/freeze", nil) }
func (w World) rule(rule JSON) { w.t.Helper(); w.control("POST", "/rules", rule) }

// advance moves the clock, and returns the changes.
func (w World) advance(by string) []any {
	w.t.Helper()
	return w.control("POST", "/clock/advance", JSON{"by": by})["changes"].([]any)
}

// verify checks the journal. The message shows the closest requests.
func (w World) verify(expected JSON) {
	w.t.Helper()
	if answer := w.control("POST", "/requests/verify", expected); answer["passed"] != true {
		w.t.Error(answer["message"], answer["closest"])
	}
}

// expectGoodConduct asks the referee how the client, which must be done, behaved, and fails the test with every error and every
// warning, if the client sent nothing, and if paid-twice is inconclusive in spite of the intent.
func (w World) expectGoodConduct() {
	w.t.Helper()
	w.control("PUT", "/referee", JSON{"intent": JSON{"client_ref_id": "^(order-[0-9]+)"}})
	if len(w.control("GET", "/requests?limit=1", nil)["requests"].([]any)) == 0 {
		w.t.Error("the client sent no request with this key")
	}
	report := w.control("GET", "/referee?ended=true", nil)
	for _, check := range report["checks"].([]any) {
		if check := check.(JSON); check["id"] == "paid-twice" && check["verdict"] == "inconclusive" {
			w.t.Error(check["reason"])
		}
		for _, finding := range check.(JSON)["findings"].([]any) {
			if found := finding.(JSON); found["severity"] != "notice" {
				w.t.Errorf("%s; fix: %s", found["message"], found["fix"])
			}
		}
	}
}

func (w World) balance() float64 {
	w.t.Helper()
	return w.control("GET", "/wallet", nil)["balance"].(float64)
}
