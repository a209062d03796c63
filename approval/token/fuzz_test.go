package token_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/token"
)

// FuzzVerify: of all texts and bindings, only the one that was signed stands,
// and only while it is valid; everything else has one of the seven reasons.
func FuzzVerify(f *testing.F) {
	ring := testRing(f)
	original := sign(f, ring, binding).Reveal()
	seal, err := ring.Seal(token.PurposeProposal, binding.Scope, []byte(original))
	require.NoError(f, err)

	f.Fuzz(func(t *testing.T, text, scope, tool, user string, proposal, params []byte, expires, now int64) {
		want := token.Binding{Scope: scope, Tool: tool, User: user}
		copy(want.Proposal[:], proposal)
		copy(want.Params[:], params)
		if expires != 0 {
			want.Expires = time.Unix(expires, 0)
		}
		got := verify(t, ring, text, want, time.Unix(now, 0))

		signed := text == original && scope == binding.Scope && tool == binding.Tool && user == binding.User &&
			want.Proposal == binding.Proposal && want.Params == binding.Params &&
			(expires == 0 || expires == binding.Expires.Unix()) &&
			now >= binding.Issued.Unix()-5 && now < binding.Expires.Unix()
		require.Equal(t, signed, got == "", "reason %q", got)

		checked := ring.CheckSeal(token.Purpose(tool), scope, []byte(original), text)
		require.Equal(t, text == seal && tool == "proposal" && scope == binding.Scope, checked == nil)
	})
}

// The seeds above are files, so that an accident cannot leave the target with
// nothing to start from.
func TestFuzzSeedsExist(t *testing.T) {
	seeds, err := filepath.Glob(filepath.Join("testdata", "fuzz", "FuzzVerify", "*"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(seeds), 10)
	valid := sign(t, testRing(t), binding).Reveal()
	found := false
	for _, seed := range seeds {
		text, err := os.ReadFile(seed)
		require.NoError(t, err)
		require.Regexp(t, `^go test fuzz v1\n`, string(text), seed)
		found = found || string(text) == validSeed(valid)
	}
	require.True(t, found, "the seed of a valid token is stale")
}

// validSeed is the seed file of the one input that verifies.
func validSeed(text string) string {
	return fmt.Sprintf("go test fuzz v1\nstring(%q)\nstring(%q)\nstring(%q)\nstring(%q)\n[]byte(%q)\n[]byte(%q)\nint64(%d)\nint64(%d)\n",
		text, binding.Scope, binding.Tool, binding.User, binding.Proposal[:], binding.Params[:], binding.Expires.Unix(), now.Unix())
}
