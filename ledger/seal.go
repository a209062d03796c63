package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
)

// ErrTampered says that an immutable field of a proposal is not what it was when the proposal was made, or
// that the proposal was not made by a holder of the keys.
var ErrTampered = errors.New("ledger: the proposal is not what was sealed")

// Seal puts a MAC over every immutable field of p into p.Seal, under the key ring's purpose for proposals.
func Seal(keys *token.Ring, p *Proposal) error {
	seal, err := keys.Seal(token.PurposeProposal, string(p.Session.Scope()), p.immutable())
	if err != nil {
		return fmt.Errorf("ledger: seal: %w", err)
	}
	p.Seal = seal
	return nil
}

// CheckSeal returns [ErrTampered] unless p.Seal is the seal of p's immutable fields. Nothing in a row is
// believed before.
func CheckSeal(keys *token.Ring, p *Proposal) error {
	if err := keys.CheckSeal(token.PurposeProposal, string(p.Session.Scope()), p.immutable(), p.Seal); err != nil {
		return fmt.Errorf("%w: %w", ErrTampered, err)
	}
	return nil
}

// immutable encodes the immutable fields: a version, then every field with its length before it and every
// list with its count, so that no byte can move from one field to the next.
func (p *Proposal) immutable() []byte {
	b := make([]byte, 0, 512+len(p.Params.String()))
	b = append(b, 1)
	text := func(s string) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	count := func(n int) { b = binary.BigEndian.AppendUint32(b, uint32(n)) }
	instant := func(t time.Time) { b = binary.BigEndian.AppendUint64(b, uint64(t.UnixMicro())) }
	flag := func(set bool) {
		if set {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	ids := func(list []authz.ID) {
		count(len(list))
		for _, id := range list {
			text(string(id))
		}
	}
	s := p.Session.Stored()
	text(p.ID)
	text(string(s.Scope))
	text(string(s.Actor))
	b = append(b, byte(s.Kind))
	text(string(s.Principal))
	flag(s.Background)
	ids(s.Via)
	flag(s.Restricted)
	count(len(s.Tools))
	for _, name := range s.Tools {
		text(name)
	}
	text(s.Run)
	text(s.Origin)
	text(s.Conversation)
	text(p.Action)
	text(p.Params.String())
	count(len(p.Targets))
	for _, path := range p.Targets {
		text(path.String())
	}
	text(p.Definition)
	text(p.Version)
	instant(p.CreatedAt)
	instant(p.ExpiresAt)
	text(p.Supersedes)
	ids(p.RevisedBy)
	return b
}

// NewID returns a UUID of version 7 (RFC 9562, section 5.7) for the given instant, so that ids sort by time.
// Random bytes come from random; its error is returned.
func NewID(at time.Time, random io.Reader) (string, error) {
	var id uuid.UUID
	if _, err := io.ReadFull(random, id[6:]); err != nil {
		return "", fmt.Errorf("ledger: new id: %w", err)
	}
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(at.UnixMilli()))
	copy(id[:6], ms[2:])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id.String(), nil
}
