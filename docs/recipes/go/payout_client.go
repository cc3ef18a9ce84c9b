// Package payouts is the payout client under test: replace it with yours.
package payouts

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
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

// ErrUnknown means that the payout may have happened or not: ask again later.
var ErrUnknown = errors.New("the outcome is unknown")

// Pay sends the same reference again while the outcome is unknown, since that cannot pay twice; when it does not help, Pay asks.
func (c Client) Pay(payout Payout) (httpStatus int, err error) {
	body, err := json.Marshal(payout)
	if err != nil {
		return 0, err
	}
	for try := 0; try < c.Tries; try++ {
		answer, err := c.send(http.MethodPost, "/payout/initiate", body)
		if err == nil && answer.StatusCode < 500 {
			return answer.StatusCode, nil
		}
		if err == nil && answer.Header.Get("Retry-After") != "" {
			break
		}
		time.Sleep(100 * time.Millisecond << try)
	}
	if state, err := c.Status(payout.ClientRefID); err != nil || state == "" {
		return 0, ErrUnknown
	}
	return http.StatusOK, nil
}

// Status returns the state of a payout.
func (c Client) Status(clientRefID string) (string, error) {
	answer, err := c.send(http.MethodGet, "/payout/status?client_ref_id="+url.QueryEscape(clientRefID), nil)
	if err != nil {
		return "", err
	}
	var found struct {
		Data struct{ Status string }
	}
	err = json.Unmarshal(answer.body, &found)
	return found.Data.Status, err
}

type wholeResponse struct {
	*http.Response
	body []byte
}

// send reads the whole response: half of one says as little as none.
func (c Client) send(method, path string, body []byte) (*wholeResponse, error) {
	request, err := http.NewRequest(method, c.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.APIKey)
	request.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Timeout: c.Timeout}).Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	whole, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode < 300 && !json.Valid(whole) {
		err = ErrUnknown
	}
	return &wholeResponse{response, whole}, err
}
