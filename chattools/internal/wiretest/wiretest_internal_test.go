package wiretest

import (
	"errors"
	"io"
	"testing"
)

// TestDecodeNotHalf cuts the data at every thousandth byte: what is damaged is an error and not fewer tools.
func TestDecodeNotHalf(t *testing.T) {
	t.Parallel()
	for n := 0; n < len(packed); n += 1000 {
		if tools, err := decode(packed[:n]); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("the first %d bytes: %d tools, error %v", n, len(tools), err)
		}
	}
}
