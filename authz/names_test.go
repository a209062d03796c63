package authz_test

import (
	"encoding"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
)

// enum is what the three enumerations have in common.
type enum interface {
	fmt.Stringer
	encoding.TextMarshaler
}

// TestNames holds the text forms, which files and stores keep, and refuses every other name and value.
func TestNames(t *testing.T) {
	var (
		kind   = authz.Model
		mode   = authz.Execute
		effect = authz.Allow
	)
	tests := []struct {
		name    string
		values  map[string]enum
		into    encoding.TextUnmarshaler
		now     enum // what into holds when decoding fails
		unknown enum
		text    string // of the unknown value, for people
	}{
		{"kind", map[string]enum{"human": authz.Human, "model": authz.Model}, &kind, kind, authz.Kind(0), "kind(0)"},
		{"mode", map[string]enum{"read": authz.Read, "propose": authz.Propose, "execute": authz.Execute}, &mode, mode, authz.Mode(4), "mode(4)"},
		{"effect", map[string]enum{"deny": authz.Deny, "allow": authz.Allow}, &effect, effect, authz.Effect(2), "effect(2)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, text := range []string{"", "Allow", "READ", "model ", "banana", "kind(1)", "\xff"} {
				require.ErrorIs(t, tt.into.UnmarshalText([]byte(text)), authz.ErrUnknownName, "%q", text)
			}
			after, err := tt.now.MarshalText()
			require.NoError(t, err)
			held, err := json.Marshal(tt.into)
			require.NoError(t, err)
			require.Equal(t, `"`+string(after)+`"`, string(held), "a failed decoding leaves the value as it was")

			for text, value := range tt.values {
				require.Equal(t, text, value.String())
				b, err := value.MarshalText()
				require.NoError(t, err)
				require.Equal(t, text, string(b))
				require.NoError(t, tt.into.UnmarshalText(b))
				held, err := json.Marshal(tt.into)
				require.NoError(t, err)
				require.Equal(t, `"`+text+`"`, string(held))
			}
			require.Equal(t, tt.text, tt.unknown.String())
			_, err = tt.unknown.MarshalText()
			require.ErrorIs(t, err, authz.ErrUnknownName)
		})
	}
}

func TestModes(t *testing.T) {
	require.True(t, authz.Read < authz.Propose && authz.Propose < authz.Execute)
	for _, m := range []authz.Mode{authz.Read, authz.Propose, authz.Execute} {
		require.True(t, m.Valid(), m)
	}
	require.False(t, authz.Mode(0).Valid())
	require.False(t, (authz.Execute + 1).Valid())
}

// TestZeroValues says what a forgotten value means: nothing that permits.
func TestZeroValues(t *testing.T) {
	require.Equal(t, authz.Deny, authz.Effect(0))
	require.False(t, authz.Decision{}.Allowed)
	require.True(t, authz.Path{}.IsZero())
	require.True(t, authz.Session{}.IsZero())
	require.True(t, authz.Person{}.IsZero())
	require.False(t, authz.Allowlist{}.Has("find"))
	require.False(t, authz.Allowlist{}.Has(""))
	require.NotEqual(t, authz.Human, authz.Kind(0))
	require.NotEqual(t, authz.Model, authz.Kind(0))
	require.False(t, authz.Actor{}.Active)
}
