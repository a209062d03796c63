package workload

import (
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBrokenDataIsAnError(t *testing.T) {
	_, err := decodeTasks([]byte("not compressed"))
	require.ErrorIs(t, err, gzip.ErrHeader)

	var broken bytes.Buffer
	w := gzip.NewWriter(&broken)
	_, err = w.Write([]byte("{\"id\":\"one\"}\n{\"id\":2}\n"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	tasks, err := decodeTasks(broken.Bytes())
	require.ErrorContains(t, err, "workload: task 2: ")
	require.Empty(t, tasks)
}
