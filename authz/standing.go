package authz

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/sallyport-dev/sallyport/approval/token"
)

// MaxStanding is how long a standing grant may last.
const MaxStanding = 30 * 24 * time.Hour

// Standing is an approval given in advance: in the name of its giver, who must still have the right at each
// use, for one action as it is defined now, below one path, until an instant, and if so wished a number of
// times. It is sealed: a grant that no holder of the keys made, or that was changed, approves nothing.
type Standing struct {
	ID         string    // unique in the scope for ever; uses are counted by it
	By         ID        // the person who gave it
	Since      time.Time // when it was given
	Until      time.Time // from this instant on it has ended; at most MaxStanding after Since
	Uses       int       // how many; zero means any number
	Below      Path      // the subtree in which it holds
	Definition string    // digest of the action's definition
	AskOnly    bool      // the principal need not hold the permission, only what asking takes
	Seal       string
}

// ErrStanding says that a standing grant is not what was sealed, or could not be.
var ErrStanding = errors.New("authz: not a valid standing grant")

// SealStanding puts the seal on a standing grant that is given to a model for a tool in a scope.
func SealStanding(keys *token.Ring, scope Scope, model ID, tool string, s *Standing) error {
	if s.ID == "" || s.By == "" || s.Below.IsZero() || s.Uses < 0 || !s.Since.Before(s.Until) || s.Until.Sub(s.Since) > MaxStanding {
		return fmt.Errorf("%w: it lacks an id, a giver, a path or a valid time", ErrStanding)
	}
	seal, err := keys.Seal(token.PurposeGrant, string(scope), s.immutable(model, tool))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStanding, err)
	}
	s.Seal = seal
	return nil
}

// CheckStanding returns [ErrStanding] unless s is what was sealed for this model, tool and scope.
func CheckStanding(keys *token.Ring, scope Scope, model ID, tool string, s *Standing) error {
	if err := keys.CheckSeal(token.PurposeGrant, string(scope), s.immutable(model, tool), s.Seal); err != nil {
		return fmt.Errorf("%w: %w", ErrStanding, err)
	}
	if s.Until.Sub(s.Since) > MaxStanding {
		return fmt.Errorf("%w: it lasts too long", ErrStanding)
	}
	return nil
}

// immutable encodes everything that is sealed, each text with its length before it.
func (s *Standing) immutable(model ID, tool string) []byte {
	b := []byte{1}
	for _, text := range []string{string(model), tool, s.ID, string(s.By), s.Below.String(), s.Definition} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	for _, n := range []int64{s.Since.UnixMicro(), s.Until.UnixMicro(), int64(s.Uses)} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	if s.AskOnly {
		return append(b, 1)
	}
	return append(b, 0)
}

// Covers reports whether the grant holds at an instant on every one of the targets.
func (s *Standing) Covers(at time.Time, targets []Path) bool {
	if at.Before(s.Since) || !at.Before(s.Until) || len(targets) == 0 {
		return false
	}
	for _, path := range targets {
		if !s.Below.Contains(path) {
			return false
		}
	}
	return true
}

// Standing returns the standing grants that the caller of a session has for a tool, in the order of the
// facts; none if the settings of the scope do not turn them on. Do not write to them. Their seals are not
// checked.
func (v *View) Standing(s Session, tool int) []*Standing {
	a, _ := v.caller(s)
	if a == nil || a.kind != Model || !v.facts.Settings.Standing {
		return nil
	}
	return a.standing[tool]
}
