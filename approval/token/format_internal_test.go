package token

import (
	"encoding/hex"
	"go/parser"
	gotoken "go/token"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The worked token of the package comment, made anew and compared with what
// the comment says, byte for byte.
func TestPackageCommentIsTheFormat(t *testing.T) {
	file, err := parser.ParseFile(gotoken.NewFileSet(), "token.go", nil, parser.ParseComments)
	require.NoError(t, err)
	comment := strings.Join(strings.Fields(file.Doc.Text()), "")

	secret := make([]byte, 32)
	for i := range secret {
		secret[i] = byte(i)
	}
	ring, err := NewRing("production", Key{ID: "k1", Secret: secret})
	require.NoError(t, err)
	made, err := ring.Sign(Binding{
		Scope:    "acme",
		Proposal: vectorProposal,
		Tool:     "payments.transfer",
		User:     "operator-4711",
		Params:   [32]byte(unhex(t, "5e314535b4511b9a5f180275987df400be7f911e56f0e67db3ed6e10b2714e74")),
		Issued:   time.Unix(1767225600, 0),
		Expires:  time.Unix(1767225900, 0),
	})
	require.NoError(t, err)
	opened, ok := open(made.Reveal(), new(scratch))
	require.True(t, ok)
	derived, err := derive(secret, tokenLabel, "production", "acme")
	require.NoError(t, err)

	require.Equal(t, "apv1.k1.AQAAAABpVbkAAAAAAGlVuiwQERITFBUWFxgZGhscHR4fXjFFNbRRG5pfGAJ1mH30AL5_kR5W8OZ9s-1uELJxTnQA"+
		"EXBheW1lbnRzLnRyYW5zZmVyAA1vcGVyYXRvci00NzEx.Ddzd8d5c1G3J-5jiN0wWIWFjIWViftA7rVRGRH_zQBY", made.Reveal())
	require.Contains(t, comment, "payload"+hex.EncodeToString(opened.payload)+
		"K"+hex.EncodeToString(derived)+
		"MAC"+hex.EncodeToString(opened.mac)+
		"token"+made.Reveal())
	for i, reason := range Reasons() {
		require.Contains(t, comment, string(rune('1'+i))+string(reason))
	}
}
