package ledger_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
)

func TestNewID(t *testing.T) {
	at := time.UnixMilli(0x0123_4567_89ab)
	for name, c := range map[string]struct {
		random byte
		want   string
	}{
		"no random bit set":    {0x00, "01234567-89ab-7000-8000-000000000000"},
		"every random bit set": {0xff, "01234567-89ab-7fff-bfff-ffffffffffff"},
	} {
		t.Run(name, func(t *testing.T) {
			id, err := ledger.NewID(at, bytes.NewReader(bytes.Repeat([]byte{c.random}, 10)))
			require.NoError(t, err)
			require.Equal(t, c.want, id)
			u, err := uuid.Parse(id)
			require.NoError(t, err)
			require.Equal(t, uuid.Version(7), u.Version())
			require.Equal(t, uuid.RFC4122, u.Variant())
		})
	}
}

func TestNewIDSortsByTime(t *testing.T) {
	last := ""
	at := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	for i, step := range []time.Duration{0, time.Millisecond, time.Second, time.Hour, 24 * time.Hour, 300 * 24 * time.Hour, 250 * 365 * 24 * time.Hour} {
		at = at.Add(step)
		random := bytes.Repeat([]byte{byte(0xff - i*0x20)}, 10) // descending, so that only the time can order
		id, err := ledger.NewID(at.In(time.FixedZone("west", -3600*i)), bytes.NewReader(random))
		require.NoError(t, err)
		require.Greater(t, id, last)
		last = id
	}
}

func TestNewIDReadsFromAReaderThatGivesLittle(t *testing.T) {
	id, err := ledger.NewID(time.UnixMilli(0), iotest.OneByteReader(bytes.NewReader(bytes.Repeat([]byte{0x11}, 10))))
	require.NoError(t, err)
	require.Equal(t, "00000000-0000-7111-9111-111111111111", id)
}

func TestNewIDNeedsRandomness(t *testing.T) {
	boom := errors.New("boom")
	id, err := ledger.NewID(time.UnixMilli(1), iotest.ErrReader(boom))
	require.ErrorIs(t, err, boom)
	require.Empty(t, id)
	id, err = ledger.NewID(time.UnixMilli(1), bytes.NewReader(make([]byte, 9)))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Empty(t, id)
}
