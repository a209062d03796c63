package browsertest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/console"
)

// hebrew has letters that are read from right to left in the place of all others, but in placeholders.
func hebrew(text string) string {
	out, from := "", 0
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if i := strings.IndexRune("abcdefghijklmnopqrstuvwxyz", r|0x20); i >= 0 {
				return 'א' + rune(i)
			}
			return r
		}, s)
	}
	for _, at := range regexp.MustCompile(`\{[a-z]+\}`).FindAllStringIndex(text, -1) {
		out += letters(text[from:at[0]]) + text[at[0]:at[1]]
		from = at[1]
	}
	return out + letters(text[from:])
}

// TestFromRightToLeft: in a language that is read so, every screen is laid out so, wide and narrow, whatever somebody else
// wrote; and the script has the host's words.
func TestFromRightToLeft(t *testing.T) {
	own := map[string]string{}
	for _, text := range console.Texts() {
		own[text] = hebrew(text)
	}
	w := createAs(t, func(c *console.Config) { c.Lang, c.Texts = "he", own })
	path, source := w.ask("one "+hostile), axe(t)
	olga := w.enter("olga")
	for _, width := range []int64{1280, 320} {
		olga.do(chromedp.EmulateViewport(width, 900))
		for _, screen := range []string{"", path, "ledger", "tools", "tools/pay", "models", "settings", "audit", "outcomes", "servers", "nowhere"} {
			olga.go_(screen)
			where := fmt.Sprintf("%s at %d px", screen, width)
			olga.sound(where)
			olga.flawless(source, where)
			require.Equal(t, "rtl", js[string](olga, `getComputedStyle(document.querySelector("main")).direction`), where)
			require.Equal(t, "ltr", js[string](olga, `[...document.querySelectorAll("pre, code")].map(e => getComputedStyle(e).direction)[0] || "ltr"`), where)
			if width == 1280 {
				require.True(t, js[bool](olga, `document.querySelector(".side").getBoundingClientRect().left >= document.querySelector("main").getBoundingClientRect().right`), where)
			}
		}
	}
	olga.go_(path)
	require.Regexp(t, `^\d+ `+hebrew("min")+` \d\d `+hebrew("s left")+"$", js[string](olga, `document.querySelector("[data-ends]").textContent`))
	olga.go_("")
	w.ask("two")
	olga.says(hebrew("1 change since this page was made."))
}

// TestTimeIsAnnounced: a page that is open when five minutes and one minute are left says so, once each, to those who hear
// it; one that is opened later does not, and neither does a list.
func TestTimeIsAnnounced(t *testing.T) {
	w := create(t)
	asked, path := time.Now(), w.ask("one")
	olga := w.enter("olga")
	const herald = `document.querySelector("#herald").textContent`
	wait := func(left int64) { // of the five minutes that a proposal has
		w.ahead.Store(300 - left - int64(time.Since(asked)/time.Second))
	}
	opened := func(left int64) {
		t.Helper()
		wait(left)
		olga.go_(path)
		js[bool](olga, `(window.times = 0, new MutationObserver(() => times++).observe(document.querySelector("#herald"), {childList: true, characterData: true, subtree: true}), true)`)
	}
	for left, want := range map[int64]string{302: "At most 5 minutes are left to decide.", 63: "At most 1 minute is left to decide."} {
		opened(left)
		require.Eventually(t, func() bool { return js[string](olga, herald) == want }, 10*time.Second, 50*time.Millisecond, want)
		first := js[string](olga, `document.querySelector("[data-ends]").textContent`)
		require.Eventually(t, func() bool { return js[string](olga, `document.querySelector("[data-ends]").textContent`) != first }, 10*time.Second, 50*time.Millisecond)
		require.EqualValues(t, 1, js[int64](olga, "times"), "it is said once")
		require.Equal(t, "status", js[string](olga, `document.querySelector("#herald").getAttribute("role")`))
	}
	opened(58)
	require.Eventually(t, func() bool {
		return strings.HasPrefix(js[string](olga, `document.querySelector("[data-ends]").textContent`), "55 ")
	}, 10*time.Second, 50*time.Millisecond)
	require.Empty(t, js[string](olga, herald))
	require.Zero(t, js[int64](olga, "times"))
	wait(62)
	olga.go_("")
	require.True(t, js[bool](olga, `!!document.querySelector("[data-ends]") && !document.querySelector("#herald")`))
}
