package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sallyport-dev/sallyport/approval/token"
)

// KeysIn returns the keys that a file holds, and makes them if there is no such file. Only its owner may read it: who has
// the keys can forge approvals.
func KeysIn(file string) (*token.Ring, error) {
	secret, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		secret = make([]byte, 32)
		rand.Read(secret) // never fails
		err = os.WriteFile(file, secret, 0o600)
	}
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s: others than its owner may read the keys", file)
	}
	return token.NewRing("example", token.Key{ID: "k1", Secret: secret})
}
