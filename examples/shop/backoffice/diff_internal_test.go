package backoffice

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func diffOrders(before, after *Order) []Change {
	_, changes := Diff(
		Snapshot{Data{Orders: map[string]*Order{"#W1": before}}},
		Snapshot{Data{Orders: map[string]*Order{"#W1": after}}})
	return changes
}

func TestDiffOfLists(t *testing.T) {
	long := &Order{Return: &Return{Items: []string{"1", "2", "3", "4"}}}
	short := &Order{Return: &Return{Items: []string{"1", "5"}}}
	require.Equal(t, []Change{
		{Op: Replace, Path: "/orders/#W1/return_items/1", Before: []byte(`"2"`), After: []byte(`"5"`)},
		{Op: Remove, Path: "/orders/#W1/return_items/3", Before: []byte(`"4"`)},
		{Op: Remove, Path: "/orders/#W1/return_items/2", Before: []byte(`"3"`)},
	}, diffOrders(long, short))
	require.Equal(t, []Change{
		{Op: Replace, Path: "/orders/#W1/return_items/1", Before: []byte(`"5"`), After: []byte(`"2"`)},
		{Op: Add, Path: "/orders/#W1/return_items/2", After: []byte(`"3"`)},
		{Op: Add, Path: "/orders/#W1/return_items/3", After: []byte(`"4"`)},
	}, diffOrders(short, long))
}

func TestDiffOfMembers(t *testing.T) {
	before := &Order{Items: []Item{{Options: map[string]string{"bagged/bagless": "bagged", "a~b": "x", "gone": "x"}}}}
	after := &Order{Items: []Item{{Options: map[string]string{"bagged/bagless": "bagless", "a~b": "y"}}}, Fulfillments: []Fulfillment{}}
	require.Equal(t, []Change{
		{Op: Replace, Path: "/orders/#W1/fulfillments", Before: []byte(`null`), After: []byte(`[]`)},
		{Op: Replace, Path: "/orders/#W1/items/0/options/a~0b", Before: []byte(`"x"`), After: []byte(`"y"`)},
		{Op: Replace, Path: "/orders/#W1/items/0/options/bagged~1bagless", Before: []byte(`"bagged"`), After: []byte(`"bagless"`)},
		{Op: Remove, Path: "/orders/#W1/items/0/options/gone", Before: []byte(`"x"`)},
	}, diffOrders(before, after))
	require.Equal(t, []Change{
		{Op: Replace, Path: "/orders/#W1/fulfillments", Before: []byte(`[]`), After: []byte(`null`)},
	}, diffOrders(&Order{Fulfillments: []Fulfillment{}}, &Order{}))
	require.Empty(t, diffOrders(before, before.clone()))
}

func TestDiffOfRecords(t *testing.T) {
	empty := Snapshot{}
	full := Snapshot{Data{Products: map[string]*Product{"1": {Name: "Lamp", ProductID: "1"}}}}
	lamp := `{"name":"Lamp","product_id":"1","variants":null}`
	sum := digest(full.data.Products["1"])

	records, changes := Diff(empty, full)
	require.Equal(t, []RecordChange{{Collection: "products", ID: "1", AfterSHA256: sum}}, records)
	require.Equal(t, []Change{{Op: Add, Path: "/products/1", After: []byte(lamp)}}, changes)

	records, changes = Diff(full, empty)
	require.Equal(t, []RecordChange{{Collection: "products", ID: "1", BeforeSHA256: sum}}, records)
	require.Equal(t, []Change{{Op: Remove, Path: "/products/1", Before: []byte(lamp)}}, changes)
}
