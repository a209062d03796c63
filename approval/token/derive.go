package token

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"sync"
)

// Labels keep the keys of different uses apart. A purpose may not contain a
// slash, so no purpose spells another label.
const (
	tokenLabel = "approval-token/v1"
	sealLabel  = "row-seal/v1/"
)

// maxDerived bounds the cache of derived keys. A ring meets one entry per key,
// scope and use; beyond the bound the cost is a derivation, about as much as
// four MACs, and never memory.
const maxDerived = 1024

// derivedID names one derived key.
type derivedID struct {
	label, scope, keyID string
}

// derivedKeys remembers derived keys. Safe for concurrent use.
type derivedKeys struct {
	mu   sync.RWMutex
	keys map[derivedID]*macKey
}

func (d *derivedKeys) get(id derivedID) *macKey {
	d.mu.RLock()
	key := d.keys[id]
	d.mu.RUnlock()
	return key
}

// put stores key and makes room by dropping an arbitrary entry. Which one does
// not matter for correctness, and an order nobody chose cannot be gamed.
func (d *derivedKeys) put(id derivedID, key *macKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.keys) >= maxDerived {
		for old := range d.keys {
			delete(d.keys, old)
			break
		}
	}
	d.keys[id] = key
}

// derive computes HKDF-SHA256 (RFC 5869) with an empty salt and
//
//	info = len16 label | label | len16 environment | environment | len16 scope | scope
func derive(secret []byte, label, environment, scope string) ([]byte, error) {
	var info []byte
	for _, field := range [...]string{label, environment, scope} {
		info = binary.BigEndian.AppendUint16(info, uint16(len(field)))
		info = append(info, field...)
	}
	return hkdf.Key(sha256.New, secret, nil, string(info), sha256.Size)
}

// macKey returns the derived key for one use, or nil if there is none: the key
// id is unknown or the scope is not a name. Unknown ids and bad scopes never
// reach the cache.
func (s *ringState) macKey(label, scope, keyID string) *macKey {
	if key := s.derived.get(derivedID{label, scope, keyID}); key != nil {
		return key
	}
	secret, ok := s.secrets[keyID]
	if !ok || !validName(scope) {
		return nil
	}
	derived, err := derive(secret, label, s.environment, scope)
	if err != nil {
		return nil
	}
	key := newMACKey(derived)
	// Copies, because the caller's strings may be slices of something large.
	s.derived.put(derivedID{strings.Clone(label), strings.Clone(scope), strings.Clone(keyID)}, key)
	return key
}
