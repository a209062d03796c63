package office

import (
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBrokenDataIsAnError(t *testing.T) {
	_, err := decodeData([]byte("not compressed"))
	require.ErrorIs(t, err, gzip.ErrHeader)

	var strange bytes.Buffer
	w := gzip.NewWriter(&strange)
	_, err = w.Write([]byte(`{"users":{"u":{"phone":"1"}}}`))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	_, err = decodeData(strange.Bytes())
	require.ErrorContains(t, err, `unknown field "phone"`)
}
