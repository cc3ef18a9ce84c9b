// Package payouts is the payout client under test: replace it with yours.
package payouts

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

type Payout struct {
	ClientRefID        string  `json:"client_ref_id"`
	BeneficiaryName    string  `json:"beneficiary_name"`
	BeneficiaryAccount string  `json:"beneficiary_account"`
	BeneficiaryIFSC    string  `json:"beneficiary_ifsc"`
	Amount             float64 `json:"amount"`
	TransferMode       string  `json:"transfer_mode"`
}

type Client struct {
	URL, APIKey string
	Timeout     time.Duration
	Tries       int
}

// Pay sends the same reference again after a lost answer, since the payout may have happened or not.
func (c Client) Pay(payout Payout) (httpStatus int, err error) {
	body, err := json.Marshal(payout)
	if err != nil {
		return 0, err
	}
	for try := 1; try <= c.Tries; try++ {
		var answer *http.Response
		if answer, err = c.send(http.MethodPost, "/payout/initiate", body); err == nil {
			return answer.StatusCode, answer.Body.Close()
		}
	}
	return 0, err
}

// Status returns the state of a payout.
func (c Client) Status(clientRefID string) (string, error) {
	answer, err := c.send(http.MethodGet, "/payout/status?client_ref_id="+url.QueryEscape(clientRefID), nil)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	var found struct {
		Data struct{ Status string }
	}
	err = json.NewDecoder(answer.Body).Decode(&found)
	return found.Data.Status, err
}

func (c Client) send(method, path string, body []byte) (*http.Response, error) {
	request, err := http.NewRequest(method, c.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.APIKey)
	request.Header.Set("Content-Type", "application/json")
	return (&http.Client{Timeout: c.Timeout}).Do(request)
}
