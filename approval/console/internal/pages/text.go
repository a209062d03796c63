package pages

import (
	"net/url"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
)

// visible returns text in which every character can be seen: what is invisible, or moves or merges with others, is
// escaped as in the display form of parameters. A line break is kept as ⏎, so that nothing can draw lines of its own.
func visible[T ~string](s T) string {
	q := canon.Quote(string(s))
	q = q[1 : len(q)-1]
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, " ⏎ ").Replace(q)
}

func joined[T ~string](list []T) string {
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = visible(s)
	}
	return strings.Join(texts, ", ")
}

func paths(list []authz.Path) []string {
	var texts []string
	for _, p := range list {
		texts = append(texts, visible(p.String()))
	}
	return texts
}

// stamp shows an instant with its zone; iso is for the datetime attribute.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "—"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func iso(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func lines(text string) int { return strings.Count(text, "\n") + 1 }

// proposalAt is the address of a proposal.
func proposalAt(base, id string) string { return base + "proposals/" + url.PathEscape(id) }

func sum(list ...int) (total int) {
	for _, n := range list {
		total += n
	}
	return total
}

// short cuts a label of a chart; the table beside it has it whole.
func short(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:39]) + "…"
	}
	return s
}
