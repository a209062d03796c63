package pages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSaid: the lists of what code says in place have exactly what it says, and every text gets its values.
func TestSaid(t *testing.T) {
	ours := saidIn(t, ".")
	require.Greater(t, len(ours), 30)
	require.ElementsMatch(t, ours, said)
	for _, text := range slices.Concat(saidIn(t, "../web"), saidIn(t, "../..")) {
		require.Contains(t, Texts(), text)
	}
}

// TestTheScriptSaysTexts: what the script shows is a text, and no constant by itself.
func TestTheScriptSaysTexts(t *testing.T) {
	script, err := assets.ReadFile("assets/console.js")
	require.NoError(t, err)
	bare := regexp.MustCompile("\\b(?:say|lock|tell)\\([\"'`]|\\b(?:text|textContent) = [\"'`][^\"'`]|[\"'`] \\+|\\+ [\"'`]")
	found := bare.FindAllString(strings.ReplaceAll(string(script), `"?after=" +`, ""), -1)
	require.Empty(t, found)
	require.Greater(t, len(inScript()), len(events)+10)
	for _, bad := range []string{`say("Hello", true)`, `let text = "expired"`, `n + " left"`, "el.textContent = `${n} left`"} {
		require.True(t, bare.MatchString(bad), bad)
	}
}

// saidIn finds the texts that the code of a folder says in place, each once.
func saidIn(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.go")
	require.NoError(t, err)
	var list []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		code, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), name, code, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			var callee string
			switch f := call.Fun.(type) {
			case *ast.Ident:
				callee = f.Name
			case *ast.SelectorExpr:
				callee = f.Sel.Name
			}
			args := call.Args
			switch callee {
			case "NewProblem":
				args = args[1:]
			case "Say", "asks", "explain":
			default:
				return true
			}
			literal, ok := args[0].(*ast.BasicLit)
			if !ok || literal.Value == `""` {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			if !call.Ellipsis.IsValid() {
				require.Len(t, args[1:], strings.Count(text, "{"), text)
			}
			list = append(list, text)
			return true
		})
	}
	slices.Sort(list)
	return slices.Compact(list)
}
