package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/examples/shop/workload"
)

// The told conversation is the same text every time: what it shows depends on no key, clock or random id.
func TestTheToldConversation(t *testing.T) {
	want, err := os.ReadFile("testdata/told.txt")
	require.NoError(t, err)
	for range 2 {
		var out bytes.Buffer
		require.NoError(t, run(t.Context(), strings.NewReader(""), &out, options{approve: "all", tell: true}))
		require.Equal(t, string(want), out.String())
	}
}

func TestOptionsThatContradictEachOther(t *testing.T) {
	for _, test := range []struct {
		options options
		want    string
	}{
		{options{replay: true, approve: "some"}, `-approve is "some", not all or none`},
		{options{}, `-approve is "", not all or none`},
		{options{approve: "none"}, "-attack and -approve need -replay"},
		{options{approve: "all", attack: true}, "-attack and -approve need -replay"},
		{options{approve: "none", attack: true, replay: true}, "-attack approves what it has to; leave -approve away"},
	} {
		var out bytes.Buffer
		require.EqualError(t, run(t.Context(), strings.NewReader(""), &out, test.options), test.want)
		require.Empty(t, out.String())
	}
}

func TestAStoryThatIsNotThere(t *testing.T) {
	_, err := taskOf("retail-test-999")
	require.EqualError(t, err, `there is no task "retail-test-999"`)
}

// A caller who has gone gets an error, not half a table that looks whole.
func TestACancelledRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, o := range []options{
		{approve: "all", replay: true}, {approve: "all", replay: true, attack: true},
	} {
		require.Error(t, run(ctx, strings.NewReader(""), io.Discard, o))
	}
}

func tasks(t *testing.T) []workload.Task {
	t.Helper()
	tasks, err := workload.Tasks()
	require.NoError(t, err)
	return tasks
}
