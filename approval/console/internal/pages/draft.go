package pages

import (
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sallyport-dev/sallyport/approval/canon"
)

// maxDraft is the most bytes of a form with parameters in it: those of the largest size, each byte as the six of an escape,
// whose backslash a form sends as three, and the form's own.
const maxDraft = 8*canon.MaxBytes + 4096

// editable is the display form of parameters, or the same without line breaks and indents where a form could not send that
// back. Either is exact and hides nothing.
func editable(display string) string {
	if len(url.QueryEscape(strings.ReplaceAll(display, "\n", "\r\n"))) <= 8*canon.MaxBytes { // as browsers send it
		return display
	}
	var b strings.Builder
	for line := range strings.Lines(display) { // a string has no line break of its own
		b.WriteString(strings.Trim(line, " \n"))
	}
	return b.String()
}

// respelled takes line breaks, indents and needless escapes out of JSON that is only by them larger than parameters may be.
// Names, order and numbers stay as they are; what is no JSON stays whole, for others to refuse.
func respelled(draft string) []byte {
	if len(draft) > canon.MaxBytes {
		text, err := jsontext.AppendFormat(nil, []byte(draft), jsontext.AllowDuplicateNames(true), jsontext.SpaceAfterColon(false), jsontext.SpaceAfterComma(false))
		if err == nil {
			return text
		}
	}
	return []byte(draft)
}
