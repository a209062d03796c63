package backoffice

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// RecordChange names a record that changed, with its versions. A record that was
// added has no version before, one that was removed none after.
type RecordChange struct {
	Collection   string `json:"collection"`
	ID           string `json:"id"`
	BeforeSHA256 string `json:"before_sha256,omitempty"`
	AfterSHA256  string `json:"after_sha256,omitempty"`
}

// The operations of a [Change].
const (
	Add     = "add"
	Replace = "replace"
	Remove  = "remove"
)

// Change is one value that changed. Path is a JSON pointer (RFC 6901) into the
// data, such as /orders/#W2611340/status; the values are canonical JSON.
type Change struct {
	Op     string          `json:"op"`
	Path   string          `json:"path"`
	Before json.RawMessage `json:"before,omitempty"` // absent for Add
	After  json.RawMessage `json:"after,omitempty"`  // absent for Remove
}

// Diff returns the records that differ between two snapshots, and the changes
// that, applied in this order, make the first into the second: by collection, id
// and path. What a list has lost goes from its highest index down.
func Diff(before, after Snapshot) ([]RecordChange, []Change) {
	d := differ{records: []RecordChange{}, changes: []Change{}}
	diffRecords(&d, "orders", before.data.Orders, after.data.Orders)
	diffRecords(&d, "products", before.data.Products, after.data.Products)
	diffRecords(&d, "users", before.data.Users, after.data.Users)
	return d.records, d.changes
}

type differ struct {
	records []RecordChange
	changes []Change
}

func diffRecords[T any](d *differ, collection string, before, after map[string]*T) {
	for _, id := range unionOfKeys(before, after) {
		from, to := before[id], after[id]
		if from == to {
			continue // a shared record has not changed
		}
		change := RecordChange{Collection: collection, ID: id, BeforeSHA256: digest(from), AfterSHA256: digest(to)}
		if change.BeforeSHA256 == change.AfterSHA256 {
			continue // written, but with what was there before
		}
		d.records = append(d.records, change)
		d.member("/"+collection, id, memberOf(from), memberOf(to))
	}
}

// optional is the value of an object's member, if the object has it.
type optional struct {
	value   any
	present bool
}

func memberOf[T any](record *T) optional {
	if record == nil {
		return optional{}
	}
	return optional{generic(record), true}
}

func (d *differ) member(path, key string, before, after optional) {
	path += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
	switch {
	case !before.present:
		d.add(path, after.value)
	case !after.present:
		d.remove(path, before.value)
	default:
		d.value(path, before.value, after.value)
	}
}

func (d *differ) value(path string, before, after any) {
	switch from := before.(type) {
	case map[string]any:
		if to, ok := after.(map[string]any); ok {
			d.object(path, from, to)
			return
		}
	case []any:
		if to, ok := after.([]any); ok {
			d.list(path, from, to)
			return
		}
	default:
		if before == after {
			return
		}
	}
	d.changes = append(d.changes, Change{Op: Replace, Path: path, Before: canonical(before), After: canonical(after)})
}

func (d *differ) object(path string, before, after map[string]any) {
	for _, key := range unionOfKeys(before, after) {
		var from, to optional
		from.value, from.present = before[key]
		to.value, to.present = after[key]
		d.member(path, key, from, to)
	}
}

func (d *differ) list(path string, before, after []any) {
	at := func(i int) string { return path + "/" + strconv.Itoa(i) }
	common := min(len(before), len(after))
	for i := range common {
		d.value(at(i), before[i], after[i])
	}
	for i := len(before) - 1; i >= common; i-- {
		d.remove(at(i), before[i])
	}
	for i := common; i < len(after); i++ {
		d.add(at(i), after[i])
	}
}

func (d *differ) add(path string, value any) {
	d.changes = append(d.changes, Change{Op: Add, Path: path, After: canonical(value)})
}

func (d *differ) remove(path string, value any) {
	d.changes = append(d.changes, Change{Op: Remove, Path: path, Before: canonical(value)})
}

func unionOfKeys[V any](a, b map[string]V) []string {
	keys := slices.Collect(maps.Keys(a))
	for key := range b {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
