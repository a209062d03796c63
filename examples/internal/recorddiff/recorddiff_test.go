package recorddiff_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/examples/internal/recorddiff"
)

type record struct {
	List    []string          `json:"list"`
	Options map[string]string `json:"options,omitempty"`
}

func diff(before, after *record) []recorddiff.Change {
	d := recorddiff.New()
	recorddiff.Collection(d, "things", map[string]*record{"#1": before}, map[string]*record{"#1": after})
	return d.Changes
}

func TestLists(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after []string
		changes       []recorddiff.Change
	}{
		{"other elements", []string{"1", "2", "3"}, []string{"1", "5", "6"}, []recorddiff.Change{
			{Op: recorddiff.Replace, Path: "/things/#1/list/1", Before: []byte(`"2"`), After: []byte(`"5"`)},
			{Op: recorddiff.Replace, Path: "/things/#1/list/2", Before: []byte(`"3"`), After: []byte(`"6"`)},
		}},
		{"more at the end", []string{"1"}, []string{"1", "2", "3"}, []recorddiff.Change{
			{Op: recorddiff.Add, Path: "/things/#1/list/1", After: []byte(`"2"`)},
			{Op: recorddiff.Add, Path: "/things/#1/list/2", After: []byte(`"3"`)},
		}},
		{"less at the end", []string{"1", "2", "3"}, []string{"1"}, []recorddiff.Change{
			{Op: recorddiff.Remove, Path: "/things/#1/list/2", Before: []byte(`"3"`)},
			{Op: recorddiff.Remove, Path: "/things/#1/list/1", Before: []byte(`"2"`)},
		}},
		{"fewer and others", []string{"1", "2", "3"}, []string{"2", "3"}, []recorddiff.Change{
			{Op: recorddiff.Replace, Path: "/things/#1/list", Before: []byte(`["1","2","3"]`), After: []byte(`["2","3"]`)},
		}},
		{"more and others", []string{"1"}, []string{"2", "1"}, []recorddiff.Change{
			{Op: recorddiff.Replace, Path: "/things/#1/list", Before: []byte(`["1"]`), After: []byte(`["2","1"]`)},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.changes, diff(&record{List: test.before}, &record{List: test.after}))
		})
	}
}

func TestMembers(t *testing.T) {
	before := &record{Options: map[string]string{"a/b": "x", "a~b": "x", "gone": "x"}}
	after := &record{Options: map[string]string{"a/b": "y", "a~b": "y"}, List: []string{}}
	require.Equal(t, []recorddiff.Change{
		{Op: recorddiff.Replace, Path: "/things/#1/list", Before: []byte(`null`), After: []byte(`[]`)},
		{Op: recorddiff.Replace, Path: "/things/#1/options/a~1b", Before: []byte(`"x"`), After: []byte(`"y"`)},
		{Op: recorddiff.Replace, Path: "/things/#1/options/a~0b", Before: []byte(`"x"`), After: []byte(`"y"`)},
		{Op: recorddiff.Remove, Path: "/things/#1/options/gone", Before: []byte(`"x"`)},
	}, diff(before, after))
	require.Equal(t, []recorddiff.Change{
		{Op: recorddiff.Replace, Path: "/things/#1/list", Before: []byte(`[]`), After: []byte(`null`)},
	}, diff(&record{List: []string{}}, &record{}))
	same := *before
	require.Empty(t, diff(before, &same))
}

func TestRecords(t *testing.T) {
	one := &record{List: []string{"a"}}
	full := map[string]*record{"1": one}

	d := recorddiff.New()
	recorddiff.Collection(d, "things", nil, full)
	require.Equal(t, []recorddiff.RecordChange{{Collection: "things", ID: "1", AfterSHA256: recorddiff.Version(one)}}, d.Records)
	require.Equal(t, []recorddiff.Change{{Op: recorddiff.Add, Path: "/things/1", After: []byte(`{"list":["a"]}`)}}, d.Changes)

	d = recorddiff.New()
	recorddiff.Collection(d, "things", full, nil)
	require.Equal(t, []recorddiff.RecordChange{{Collection: "things", ID: "1", BeforeSHA256: recorddiff.Version(one)}}, d.Records)
	require.Equal(t, []recorddiff.Change{{Op: recorddiff.Remove, Path: "/things/1", Before: []byte(`{"list":["a"]}`)}}, d.Changes)

	d = recorddiff.New()
	recorddiff.Collection(d, "things", full, map[string]*record{"1": one})
	require.Equal(t, recorddiff.New(), d)
}

func TestVersion(t *testing.T) {
	require.Empty(t, recorddiff.Version[record](nil))
	// echo -n '{"list":["a"]}' | sha256sum
	require.Equal(t, "ddb26e59bfd30f97be694eac6850c02d5068328294769d0616edb07b93893c08", recorddiff.Version(&record{List: []string{"a"}}))
}
