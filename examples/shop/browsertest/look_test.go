package browsertest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// screens are the console's, with what each is called in the documentation.
var screens = []struct{ name, path string }{
	{"inbox", ""}, {"ledger", "ledger"}, {"tools", "tools"}, {"tool", "tools/cancel_pending_order"}, {"models", "models"}, {"settings", "settings"},
	{"audit", "audit"}, {"outcomes", "outcomes"}, {"proposal", "proposal"}, {"error", "proposals/nothing"}, {"confirm", "confirm"},
}

// visit goes to a screen; two of them are not at an address of their own.
func (w *window) visit(path string) {
	w.t.Helper()
	switch path {
	case "proposal":
		w.go_("/console/")
		w.press("a.what", "Cancel order")
	case "confirm":
		w.go_("/console/settings")
		w.press("button", "Set the ceiling")
	default:
		w.go_("/console/" + path)
	}
}

// TestAccessible looks at every screen with axe, in four widths, in the light and in the dark: no fault, nothing to scroll
// sideways for, and nothing that the content security policy had to stop.
func TestAccessible(t *testing.T) {
	shop, source := open(t, "-dsn", filepath.Join(t.TempDir(), "shop.db")), axe(t) // with a past
	for _, order := range []string{refund, "refund order #W4923227 again"} {
		enter(t, shop, "Isabella").ask(order)
	}
	pictures := os.Getenv("SALLYPORT_SCREENSHOTS")
	ada := enter(t, shop, "Ada")
	for _, width := range []int64{1280, 768, 390, 320} {
		for _, scheme := range []string{"light", "dark"} {
			ada.do(chromedp.EmulateViewport(width, 900))
			ada.emulate(media("prefers-color-scheme", scheme))
			for _, s := range screens {
				ada.visit(s.path)
				where := fmt.Sprintf("%s at %d px, %s", s.name, width, scheme)
				ada.flawless(source, where)
				if pictures != "" && (width == 1280 || width == 390) && scheme == "light" && s.name != "error" && s.name != "confirm" {
					shot, err := chromedp.Run(ada.ctx, picture(s.name))
					require.NoError(t, err)
					name := fmt.Sprintf("%s-%d.png", s.name, width)
					require.NoError(t, os.WriteFile(filepath.Join(pictures, name), shot, 0o600))
				}
			}
		}
	}
}

// flawless looks at a screen with axe, of which it gets the source, also at what is folded up.
func (w *window) flawless(axe, where string) {
	w.t.Helper()
	js[bool](w, axe+`; window.folded = [...document.querySelectorAll("details:not([open])")]; folded.forEach(d => { d.open = true }); true`)
	require.True(w.t, js[bool](w, "document.documentElement.scrollWidth <= document.documentElement.clientWidth"), "%s: nothing is wider than the window", where)
	var faults []struct {
		ID, Help string
		Nodes    []struct{ HTML, FailureSummary string }
	}
	found := js[string](w, `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(r => JSON.stringify(r.violations))`)
	require.NoError(w.t, json.Unmarshal([]byte(found), &faults))
	require.Empty(w.t, faults, where)
	js[bool](w, "folded.forEach(d => { d.open = false }); true")
}

// picture is of the window, and of a whole proposal.
func picture(screen string) chromedp.Action[[]byte] {
	if screen == "proposal" {
		return chromedp.FullScreenshot(100)
	}
	return chromedp.CaptureScreenshot()
}

// TestForcedColours: with colours of the user's own and reduced motion everything is still there.
func TestForcedColours(t *testing.T) {
	shop := open(t)
	enter(t, shop, "Isabella").ask(refund)
	sam := enter(t, shop, "Sam")
	sam.emulate(emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "forced-colors", Value: "active"}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	sam.visit("proposal")
	require.NotEqual(t, "0px", js[string](sam, `getComputedStyle(document.querySelector("button.main")).borderTopWidth`))
	require.Equal(t, "0s", js[string](sam, `getComputedStyle(document.querySelector("button.main")).transitionDuration`))
}
