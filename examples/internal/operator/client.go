package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode"
)

// Usage lists the subcommands.
const Usage = `pending                  what waits for a decision
show ID                  everything about one proposal
approve ID [HASH]        approve and run it; HASH is the one that show printed, and without it all is shown first
dismiss ID [REASON...]   say no; the model may read the reason`

// Has reports whether a word is one of the subcommands.
func Has(command string) bool {
	switch command {
	case "pending", "show", "approve", "dismiss":
		return true
	}
	return false
}

// Run carries out a subcommand and its arguments as the operator whose address and secret are in the file.
func Run(ctx context.Context, file string, out io.Writer, args ...string) error {
	d, err := read(file)
	if err != nil {
		return fmt.Errorf("nothing is served here: %w", err)
	}
	if len(args) == 0 || !Has(args[0]) || args[0] != "pending" && len(args) < 2 {
		return errors.New("usage:\n" + Usage)
	}
	q := request{Command: args[0]}
	if len(args) > 1 {
		q.Proposal = args[1]
	}
	switch args[0] {
	case "dismiss":
		q.Reason = strings.Join(args[2:], " ")
	case "approve":
		if len(args) > 2 {
			q.Shown = args[2]
			break
		}
		shown, err := d.post(ctx, request{Command: "show", Proposal: q.Proposal})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, clean(shown.Text)); err != nil {
			return err
		}
		q.Shown = shown.Shown
	}
	a, err := d.post(ctx, q)
	if err == nil {
		_, err = fmt.Fprintln(out, clean(a.Text))
	}
	return err
}

func (d door) post(ctx context.Context, q request) (a response, err error) {
	body, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+d.Address+"/", bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	r.Header.Set("Authorization", "Bearer "+d.Secret)
	r.Header.Set("Content-Type", contentType)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return a, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return a, errors.New(res.Status)
	}
	if err := json.NewDecoder(res.Body).Decode(&a); err != nil {
		return a, err
	}
	if a.Error != "" {
		return a, errors.New(clean(a.Error))
	}
	return a, nil
}

// clean keeps what a model or a result says from steering the terminal.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
