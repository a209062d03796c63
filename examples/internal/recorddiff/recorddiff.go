// Package recorddiff says what differs between two states of an application's
// records, in the form in which recordings of such applications have it: which
// records changed, with a hash before and after, and which values within them.
//
// A state is one map from id to record for each collection. A [Differ] compares
// the collections one by one:
//
//	d := recorddiff.New()
//	recorddiff.Collection(d, "orders", before.Orders, after.Orders)
//	recorddiff.Collection(d, "users", before.Users, after.Users)
//	fmt.Println(d.Records, d.Changes)
//
// [Canonical] is the form that is hashed and shown, [Version] the hash.
package recorddiff

import (
	"encoding/json"
	"maps"
	"reflect"
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

// Differ collects what differs: by collection in the order in which they were
// compared, then by id and path. The changes, applied in this order, make the
// first state into the second. A list of the same length is compared element by
// element. What one has gained or lost at its end is added or removed, removals
// from the highest index down. A list that has another length and other elements
// is replaced as a whole, since nobody can tell which element became which.
//
// New makes a Differ; it is for one goroutine.
type Differ struct {
	Records []RecordChange
	Changes []Change
}

// New returns a Differ that has found nothing: lists without elements, not nil.
func New() *Differ { return &Differ{Records: []RecordChange{}, Changes: []Change{}} }

// Collection adds to d what differs between two states of one collection. A
// record that both states share is known to be unchanged without a look at it.
func Collection[T any](d *Differ, name string, before, after map[string]*T) {
	for _, id := range unionOfKeys(before, after) {
		from, to := before[id], after[id]
		if from == to {
			continue
		}
		change := RecordChange{Collection: name, ID: id, BeforeSHA256: Version(from), AfterSHA256: Version(to)}
		if change.BeforeSHA256 == change.AfterSHA256 {
			continue // written, but with what was there before
		}
		d.Records = append(d.Records, change)
		d.member("/"+name, id, memberOf(from), memberOf(to))
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

func (d *Differ) member(path, key string, before, after optional) {
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

func (d *Differ) value(path string, before, after any) {
	switch from := before.(type) {
	case map[string]any:
		if to, ok := after.(map[string]any); ok {
			d.object(path, from, to)
			return
		}
	case []any:
		if to, ok := after.([]any); ok && d.list(path, from, to) {
			return
		}
	default:
		if before == after {
			return
		}
	}
	d.Changes = append(d.Changes, Change{Op: Replace, Path: path, Before: Canonical(before), After: Canonical(after)})
}

func (d *Differ) object(path string, before, after map[string]any) {
	for _, key := range unionOfKeys(before, after) {
		var from, to optional
		from.value, from.present = before[key]
		to.value, to.present = after[key]
		d.member(path, key, from, to)
	}
}

// list compares two lists, if it can be said which element became which.
func (d *Differ) list(path string, before, after []any) bool {
	at := func(i int) string { return path + "/" + strconv.Itoa(i) }
	common := min(len(before), len(after))
	if len(before) != len(after) && !reflect.DeepEqual(before[:common], after[:common]) {
		return false
	}
	for i := range common {
		d.value(at(i), before[i], after[i])
	}
	for i := len(before) - 1; i >= common; i-- {
		d.remove(at(i), before[i])
	}
	for i := common; i < len(after); i++ {
		d.add(at(i), after[i])
	}
	return true
}

func (d *Differ) add(path string, value any) {
	d.Changes = append(d.Changes, Change{Op: Add, Path: path, After: Canonical(value)})
}

func (d *Differ) remove(path string, value any) {
	d.Changes = append(d.Changes, Change{Op: Remove, Path: path, Before: Canonical(value)})
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
