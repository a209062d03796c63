package browsertest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

var (
	shop    string          // the program
	browser context.Context // one for all tests
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	path := os.Getenv("SALLYPORT_TEST_CHROMIUM")
	if path == "" {
		return m.Run() // and every test is skipped
	}
	dir, err := os.MkdirTemp("", "shop")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	shop = filepath.Join(dir, "shop")
	build := exec.Command("go", "build", "-o", shop, "./examples/shop")
	build.Dir, build.Stderr = filepath.Join("..", "..", ".."), os.Stderr
	if err := build.Run(); err != nil {
		return 1
	}
	ctx, cancel := chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(chromedp.ExecPath(path), chromedp.NoSandbox))
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	browser = ctx
	return m.Run()
}

// open starts a shop of its own and returns its address.
func open(t *testing.T, args ...string) string {
	t.Helper()
	if shop == "" {
		t.Skip("SALLYPORT_TEST_CHROMIUM does not hold the path of Chromium")
	}
	cmd := exec.Command(shop, append([]string{"-addr", "127.0.0.1:0", "-dsn", "memory"}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		require.NoError(t, cmd.Wait(), "it stops when it is told to, with streams open")
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	_, rest, ok := strings.Cut(line, "http://")
	require.True(t, ok, line)
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return "http://" + rest[:strings.IndexByte(rest, '/')]
}

// window is a person's window, with cookies of its own.
type window struct {
	t    *testing.T
	ctx  context.Context
	shop string
}

// enter opens a window and is somebody in it.
func enter(t *testing.T, shop, name string) *window {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	ctx, stop := context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(func() { stop(); cancel() })
	w := &window{t, ctx, shop}
	w.go_("/")
	w.do(chromedp.EmulateViewport(1280, 900))
	w.press("button", name)
	return w
}

func (w *window) do(steps ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	require.NoError(w.t, chromedp.Do(w.ctx, steps...))
}

func (w *window) go_(path string) {
	w.t.Helper()
	w.do(chromedp.Navigate(w.shop + path))
}

// js evaluates an expression.
func js[T any](w *window, expression string) T {
	w.t.Helper()
	v, err := chromedp.Run(w.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(w.t, err)
	return v
}

// text returns what the page says.
func (w *window) text() string { w.t.Helper(); return js[string](w, "document.body.innerText") }

// says waits until the page says something.
func (w *window) says(want string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		v, err := chromedp.Run(w.ctx, chromedp.Evaluate[string]("document.body.innerText"))
		return err == nil && strings.Contains(v, want)
	}, 20*time.Second, 50*time.Millisecond, "%q", want)
}

// press clicks the first element of a selector that has this text, and waits for the page that follows.
func (w *window) press(selector, text string) {
	w.t.Helper()
	w.mark(selector, text)
	_, err := chromedp.RunResponse(w.ctx, chromedp.Click(chromedp.CSS("[data-here]")))
	require.NoError(w.t, err)
}

func (w *window) mark(selector, text string) {
	w.t.Helper()
	found := js[bool](w, fmt.Sprintf(`(() => { document.querySelectorAll("[data-here]").forEach(e => e.removeAttribute("data-here"));
		const e = [...document.querySelectorAll(%q)].find(e => e.textContent.includes(%q) && e.offsetParent !== null);
		if (e) { e.setAttribute("data-here", ""); e.scrollIntoView({block: "center"}); } return !!e; })()`, selector, text))
	require.True(w.t, found, "%s with the text %q", selector, text)
}

// unfold opens the details with this summary.
func (w *window) unfold(summary string) {
	w.t.Helper()
	w.mark("summary", summary)
	js[bool](w, `(document.querySelector("[data-here]").parentElement.open = true)`)
}

// ask lets the customer ask for a refund in the chat.
func (w *window) ask(text string) {
	w.t.Helper()
	w.go_("/")
	js[string](w, fmt.Sprintf(`(document.querySelector("textarea").value = %q)`, text))
	w.press("button", "Send")
}

const refund = "Please cancel my order #W4923227 and refund it."

func media(name, value string) emulation.SetEmulatedMediaParams {
	return emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: name, Value: value}}}
}

func (w *window) emulate(p emulation.SetEmulatedMediaParams) {
	w.t.Helper()
	_, err := chromedp.Call(w.ctx, emulation.SetEmulatedMedia, p)
	require.NoError(w.t, err)
}

//go:embed testdata/axe.min.js.gz
var axeZip []byte

func axe(t *testing.T) string {
	r, err := gzip.NewReader(bytes.NewReader(axeZip))
	require.NoError(t, err)
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(text)
}
