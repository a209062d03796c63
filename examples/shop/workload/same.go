package workload

import (
	"encoding/json"
	"reflect"
)

// SameJSON reports whether two JSON texts hold the same value: objects without
// regard to the order of their keys, numbers as doubles, so that 100 and 100.0
// are the same. A text that is not JSON is not the same as any.
func SameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}
