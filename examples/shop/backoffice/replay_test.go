package backoffice_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/examples/shop/backoffice"
	"github.com/sallyport-dev/sallyport/examples/shop/workload"
)

// call runs one of the shop's calls with arguments in JSON.
type call func(context.Context, *backoffice.Shop, json.RawMessage) (any, error)

func method[P, R any](run func(*backoffice.Shop, context.Context, P) (R, error)) call {
	return func(ctx context.Context, shop *backoffice.Shop, arguments json.RawMessage) (any, error) {
		decoder := json.NewDecoder(bytes.NewReader(arguments))
		decoder.DisallowUnknownFields()
		var p P
		if err := decoder.Decode(&p); err != nil {
			return nil, err
		}
		return run(shop, ctx, p)
	}
}

var calls = map[string]call{
	"calculate":                      method((*backoffice.Shop).Calculate),
	"cancel_pending_order":           method((*backoffice.Shop).CancelPendingOrder),
	"exchange_delivered_order_items": method((*backoffice.Shop).ExchangeDeliveredOrderItems),
	"find_user_id_by_email":          method((*backoffice.Shop).FindUserIDByEmail),
	"find_user_id_by_name_zip":       method((*backoffice.Shop).FindUserIDByNameZip),
	"get_order_details":              method((*backoffice.Shop).GetOrderDetails),
	"get_product_details":            method((*backoffice.Shop).GetProductDetails),
	"get_user_details":               method((*backoffice.Shop).GetUserDetails),
	"list_all_product_types":         method((*backoffice.Shop).ListAllProductTypes),
	"modify_pending_order_address":   method((*backoffice.Shop).ModifyPendingOrderAddress),
	"modify_pending_order_items":     method((*backoffice.Shop).ModifyPendingOrderItems),
	"modify_pending_order_payment":   method((*backoffice.Shop).ModifyPendingOrderPayment),
	"modify_user_address":            method((*backoffice.Shop).ModifyUserAddress),
	"return_delivered_order_items":   method((*backoffice.Shop).ReturnDeliveredOrderItems),
	"think":                          method((*backoffice.Shop).Think),
	"transfer_to_human_agents":       method((*backoffice.Shop).TransferToHumanAgents),
}

// replay counts what a replay of recorded tasks saw, and lists what differed.
type replay struct {
	calls       map[workload.Effect]int
	refused     map[workload.Effect]int
	differences []string
}

func (r *replay) differ(format string, args ...any) {
	r.differences = append(r.differences, fmt.Sprintf(format, args...))
}

// The proof that this is the shop that was recorded: every answer, every changed
// record and value of every task is as it was.
func TestReplay(t *testing.T) {
	tasks, err := workload.Tasks()
	require.NoError(t, err)
	r := replay{calls: map[workload.Effect]int{}, refused: map[workload.Effect]int{}}
	for _, task := range tasks {
		r.task(t, task)
	}
	for _, difference := range r.differences {
		t.Error(difference)
	}
	require.Len(t, tasks, 488)
	require.Equal(t, map[workload.Effect]int{workload.Write: 752, workload.Read: 211, workload.Pure: 9, workload.Handoff: 1}, r.calls)
	require.Equal(t, map[workload.Effect]int{workload.Write: 16, workload.Read: 14}, r.refused)
}

func (r *replay) task(t *testing.T, task workload.Task) {
	shop, err := backoffice.Open()
	require.NoError(t, err)
	changed := map[string]string{}
	for i, action := range task.Actions {
		for _, record := range r.action(t, shop, fmt.Sprintf("%s call %d %s", task.ID, i, action.Name), action) {
			changed[record.Collection+"/"+record.ID] = record.AfterSHA256
		}
	}
	final := map[string]string{}
	for id, record := range task.Final.ChangedRecords {
		final[id] = record.SHA256
	}
	if !maps.Equal(final, changed) {
		r.differ("%s: final records\n got %v\nwant %v", task.ID, changed, final)
	}
}

// action runs one call, compares it with the recording and returns what it changed.
func (r *replay) action(t *testing.T, shop *backoffice.Shop, label string, action workload.Action) []backoffice.RecordChange {
	before := shop.Snapshot()
	result, err := calls[action.Name](t.Context(), shop, action.Arguments)
	r.calls[action.Effect]++
	if err != nil {
		var refusal *backoffice.Error
		if !errors.As(err, &refusal) {
			r.differ("%s: not a refusal: %v", label, err)
		}
		r.refused[action.Effect]++
		result = err.Error()
	}
	_, isText := result.(string)
	if action.Expect.OK != (err == nil) || action.Expect.ResultIsJSON == isText {
		r.differ("%s: ok %t, JSON %t", label, err == nil, !isText)
	}
	r.same(t, label+" result", action.Expect.Result, result)

	records, changes := backoffice.Diff(before, shop.Snapshot())
	if action.Effect != workload.Write {
		action.Expect.Records, action.Expect.Changes = []backoffice.RecordChange{}, []backoffice.Change{}
	}
	r.same(t, label+" records", marshal(t, action.Expect.Records), records)
	r.same(t, label+" changes", marshal(t, action.Expect.Changes), changes)
	r.versions(shop, label, action.Expect.Records)
	return records
}

// versions compares what the shop says of its records with the recorded hashes.
func (r *replay) versions(shop *backoffice.Shop, label string, records []backoffice.RecordChange) {
	version := map[string]func(string) string{"orders": shop.OrderVersion, "users": shop.UserVersion}
	for _, record := range records {
		if got := version[record.Collection](record.ID); got != record.AfterSHA256 {
			r.differ("%s: version of %s is %s", label, record.ID, got)
		}
	}
}

func (r *replay) same(t *testing.T, label string, want json.RawMessage, got any) {
	if text := marshal(t, got); !workload.SameJSON(want, text) {
		r.differ("%s:\n got %s\nwant %s", label, text, want)
	}
}

func marshal(t *testing.T, value any) json.RawMessage {
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return text
}
