package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"sync"
)

// macKey computes HMAC-SHA256 (RFC 2104, FIPS 180-4) under one key. The two
// key blocks are hashed once per state and then restored, as FIPS 198-1
// section 6 allows, so a MAC costs only the blocks of its message. Methods may
// be called concurrently.
type macKey struct {
	states sync.Pool
}

// macState is one HMAC ready for a message. The sum lives beside it so that a
// comparison allocates nothing.
type macState struct {
	mac hash.Hash
	sum [sha256.Size]byte
}

// newMACKey takes any key; the ring hands it derived keys of 32 bytes only.
func newMACKey(key []byte) *macKey {
	key = append([]byte(nil), key...)
	k := new(macKey)
	k.states.New = func() any { return &macState{mac: hmac.New(sha256.New, key)} }
	return k
}

// compute returns a state whose sum is the MAC of message; give it back with
// release.
func (k *macKey) compute(message []byte) *macState {
	s := k.states.Get().(*macState)
	s.mac.Write(message)
	s.mac.Sum(s.sum[:0])
	return s
}

func (k *macKey) release(s *macState) {
	s.mac.Reset()
	k.states.Put(s)
}

// appendSum appends the 32 bytes of the MAC of message.
func (k *macKey) appendSum(dst, message []byte) []byte {
	s := k.compute(message)
	dst = append(dst, s.sum[:]...)
	k.release(s)
	return dst
}

// verify compares in constant time. A shortened mac never matches.
func (k *macKey) verify(message, mac []byte) bool {
	s := k.compute(message)
	ok := hmac.Equal(s.sum[:], mac)
	k.release(s)
	return ok
}
