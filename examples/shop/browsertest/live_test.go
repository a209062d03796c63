package browsertest

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// hide lets a page think that nobody sees it, or that somebody does again.
func (w *window) hide(hidden string) {
	w.t.Helper()
	js[bool](w, `(Object.defineProperty(document, "hidden", {value: `+hidden+`, configurable: true}), document.dispatchEvent(new Event("visibilitychange")))`)
}

// TestOutOfSight: a page that nobody saw for a while, from the beginning or later, hears of what happened meanwhile.
func TestOutOfSight(t *testing.T) {
	w := create(t)
	olga := w.enter("olga")
	_, err := chromedp.Call(olga.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `Object.defineProperty(document, "hidden", {value: true, configurable: true})`,
	})
	require.NoError(t, err)
	olga.go_("") // in a tab behind
	path := w.ask("one")
	olga.hide("false")
	olga.says("1 change since this page was made")
	olga.hide("true")
	w.ask("two")
	olga.hide("false")
	olga.says("2 changes since this page was made")

	olga.go_(path)
	sam := w.enter("sam")
	sam.go_(path)
	sam.press("button.no", "Dismiss")
	sam.says("Dismissed. The requester can read the reason.")
	olga.hide("false")
	olga.says("Somebody decided this meanwhile")
	require.True(t, js[bool](olga, `document.querySelector("button.main").disabled`))
}

// TestDeafPage: a page that cannot hear says so, tries again, and then has missed nothing.
func TestDeafPage(t *testing.T) {
	w := create(t)
	olga := w.enter("olga")
	w.mute.Store(true)
	olga.go_("")
	olga.says("This page does not hear of changes at present.")
	w.ask("one")
	w.mute.Store(false)
	olga.says("1 change since this page was made")
	olga.go_("settings")
	require.Equal(t, "block", js[string](olga, `getComputedStyle(document.querySelector("#news")).display`), "what is to be read out has its place before it says something")
	require.False(t, strings.Contains(olga.text(), "Show it"))
}

// TestLettersAreNoKeys: j and k move in the list only, so that no word that somebody speaks moves anything.
func TestLettersAreNoKeys(t *testing.T) {
	w := create(t)
	w.ask("one")
	w.ask("two")
	olga := w.enter("olga")
	olga.go_("")
	row := func() int64 {
		return js[int64](olga, `[...document.querySelectorAll(".rows .what")].indexOf(document.activeElement)`)
	}
	olga.do(chromedp.KeyEvent("j"))
	require.EqualValues(t, -1, row())
	js[string](olga, `(document.querySelector(".rows .what").focus(), "")`)
	for _, step := range []struct {
		key string
		row int64
	}{{"j", 1}, {"j", 1}, {"k", 0}, {"k", 0}} {
		olga.do(chromedp.KeyEvent(step.key))
		require.Equal(t, step.row, row(), step.key)
	}
}
