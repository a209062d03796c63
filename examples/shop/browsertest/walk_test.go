package browsertest

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// TestWalk: a customer asks in the chat, the inbox hears of it by itself, a member of staff approves, and everybody can
// read what happened.
func TestWalk(t *testing.T) {
	shop := open(t)
	sam := enter(t, shop, "Sam")
	sam.says("Nothing waits")
	isabella := enter(t, shop, "Isabella")
	isabella.ask(refund)
	isabella.says("I have asked the staff")

	sam.says("1 change since this page was made")
	sam.press("#news a", "Show it")
	sam.says("Cancel order")
	require.NotContains(t, sam.text(), "Nothing waits")
	sam.press("a.what", "Cancel order")
	page := sam.text()
	for _, want := range []string{"#W4923227", "assistant", "isabella_lopez_6490", "Exactly these parameters", `"reason": "no longer needed"`, "min", "Medium risk"} {
		require.Contains(t, page, want)
	}
	sam.press("button.main", "Approve and run it once")
	sam.says("Approved, and it ran")
	require.Contains(t, sam.text(), "Done")
	require.False(t, js[bool](sam, `!!document.querySelector("button.main")`), "there is nothing left to approve")
	sam.press(".side a", "Ledger")
	sam.says("Done")

	isabella.press("a", "Any news?")
	isabella.says("cancel_pending_order: done")

	ada := enter(t, shop, "Ada")
	ada.press(".side a", "Audit")
	for _, want := range []string{"proposed", "started", "finished", "by sam"} {
		ada.says(want)
	}
	ada.press(".side a", "Outcomes")
	ada.says("100 %")
}

func TestDismiss(t *testing.T) {
	shop := open(t)
	isabella := enter(t, shop, "Isabella")
	isabella.ask(refund)
	sam := enter(t, shop, "Sam")
	sam.press("a.what", "Cancel order")
	js[string](sam, `(document.querySelector("textarea[name=text]").value = "the parcel is on its way")`)
	sam.press("button.no", "Dismiss")
	sam.says("Dismissed. The requester can read the reason.")
	isabella.go_("/")
	isabella.says("the parcel is on its way")
}

func TestRevise(t *testing.T) {
	shop := open(t)
	isabella := enter(t, shop, "Isabella")
	isabella.ask(refund)
	sam := enter(t, shop, "Sam")
	sam.press("a.what", "Cancel order")
	sam.unfold("Change the parameters")
	js[string](sam, `(document.querySelector("textarea[name=params]").value = "{\"order_id\": \"#W4923227\"}")`)
	sam.press("button", "Propose this instead")
	sam.says("Not valid")
	sam.says("reason")
	js[string](sam, `(document.querySelector("textarea[name=params]").value = "{\"order_id\": \"#W4923227\", \"reason\": \"ordered by mistake\"}")`)
	sam.press("button", "Propose this instead")
	sam.says("This is the revised proposal")
	sam.says("ordered by mistake")
	sam.press("button.main", "Approve and run it once")
	sam.says("Approved, and it ran")
}

// TestExpiresOnScreen: a page that is open when the time is over says so, and offers no approval any more.
func TestExpiresOnScreen(t *testing.T) {
	shop := open(t, "-life", "4s")
	isabella := enter(t, shop, "Isabella")
	sam := enter(t, shop, "Sam")
	isabella.ask(refund)
	sam.go_("/console/")
	sam.press("a.what", "Cancel order")
	sam.says("The time to approve this is over")
	require.True(t, js[bool](sam, `document.querySelector("button.main").disabled`))
	form := js[bool](sam, `(document.querySelector("form[action$=approve]").submit(), true)`)
	require.True(t, form)
	sam.says("Expired")
	require.Contains(t, sam.text(), "Nothing was run")
	isabella.go_("/")
	isabella.says("expired")
}

// TestTwoTabs: of two people who decide at once one wins, and the other is told who did.
func TestTwoTabs(t *testing.T) {
	shop := open(t)
	isabella := enter(t, shop, "Isabella")
	isabella.ask(refund)
	sam, ada := enter(t, shop, "Sam"), enter(t, shop, "Ada")
	sam.press("a.what", "Cancel order")
	ada.press("a.what", "Cancel order")
	sam.press("button.main", "Approve and run it once")
	sam.says("Approved, and it ran")
	ada.says("Somebody decided this meanwhile")
	require.True(t, js[bool](ada, `document.querySelector("button.main").disabled`), "the form is locked by itself")
	js[bool](ada, `(document.querySelector("form[action$=approve]").submit(), true)`)
	ada.says("Already approved")
	ada.says("It was sam")
}

// TestGrants: what an owner changes holds at the model's next turn.
func TestGrants(t *testing.T) {
	shop := open(t)
	ada := enter(t, shop, "Ada")
	ada.press(".side a", "Tools and grants")
	ada.says("Asks")
	ada.press("th a", "cancel_pending_order")
	ada.says("and decides")
	js[string](ada, `(document.querySelector("select[name=effect]").value = "deny")`)
	ada.press("button", "Set the grant")
	ada.says("Are you sure?")
	ada.says("deny")
	ada.press("button.main", "Yes, change it")
	ada.says("It holds from the next call on")
	isabella := enter(t, shop, "Isabella")
	isabella.ask(refund)
	isabella.says("There is no such tool")

	ada.press(".side a", "Settings")
	js[bool](ada, `(document.querySelector("input[value=read]").checked = true)`)
	ada.press("button", "Set the ceiling")
	ada.press("button.main", "Yes, change it")
	ada.press(".side a", "Tools and grants")
	ada.says("above the ceiling")
}

// TestWithoutScripts: everything can be done without any.
func TestWithoutScripts(t *testing.T) {
	shop := open(t)
	isabella := enter(t, shop, "Isabella")
	isabella.ask(refund)
	sam := enter(t, shop, "Sam")
	_, err := chromedp.Call(sam.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	require.NoError(t, err)
	click := func(selector string) {
		t.Helper()
		_, err := chromedp.RunResponse(sam.ctx, chromedp.Click(chromedp.CSS(selector)))
		require.NoError(t, err)
	}
	sam.go_("/console/")
	click("a.what")
	left, err := chromedp.Run(sam.ctx, chromedp.Text(chromedp.CSS("[data-ends]")))
	require.NoError(t, err)
	require.Contains(t, left, "left")
	click("button.main")
	notice, err := chromedp.Run(sam.ctx, chromedp.Text(chromedp.CSS(".say.good")))
	require.NoError(t, err)
	require.Contains(t, notice, "Approved, and it ran")
}

// TestKeyboard: the whole way from the inbox to the approval without a mouse.
func TestKeyboard(t *testing.T) {
	shop := open(t)
	isabella := enter(t, shop, "Isabella")
	isabella.ask(refund)
	sam := enter(t, shop, "Sam")
	tabTo := func(selector string) {
		t.Helper()
		for range 60 {
			sam.do(chromedp.KeyEvent(kb.Tab))
			if js[bool](sam, `document.activeElement.matches("`+selector+`")`) {
				outline := js[string](sam, `getComputedStyle(document.activeElement).outlineStyle`)
				require.NotEqual(t, "none", outline, "where the focus is can be seen")
				return
			}
		}
		t.Fatalf("no key leads to %s", selector)
	}
	tabTo(".skip")
	tabTo(".what")
	_, err := chromedp.RunResponse(sam.ctx, chromedp.KeyEvent(kb.Enter))
	require.NoError(t, err)
	tabTo("button.main")
	_, err = chromedp.RunResponse(sam.ctx, chromedp.KeyEvent(kb.Enter))
	require.NoError(t, err)
	sam.says("Approved, and it ran")
}

// TestExports: the file has what the screen has, and says that it was made.
func TestExports(t *testing.T) {
	shop := open(t)
	isabella := enter(t, shop, "Isabella")
	isabella.ask(refund)
	ada := enter(t, shop, "Ada")
	ada.press(".side a", "Audit")
	for _, format := range []string{"csv", "ndjson"} {
		text := js[string](ada, `fetch(document.querySelector("a[href*='audit.`+format+`']").href).then(r => r.text())`)
		require.NotEmpty(t, strings.TrimSpace(text), format)
	}
	time.Sleep(10 * time.Millisecond)
	ada.go_("/console/audit")
	ada.says("audit_export")
}
