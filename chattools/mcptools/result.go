package mcptools

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
)

// waiting is the structured content of an answer that needs a person.
type waiting struct {
	Status   chattools.Status `json:"status"`
	Proposal string           `json:"proposal"`
	Text     string           `json:"text"`
	Link     string           `json:"link,omitempty"`
}

// result makes a result of an answer. What the action returned is its text, digit for digit, and where it is an
// object its structured content too: clients that know no other kind would choke on it. Whatever did not come to
// its end is an error for the model to read, except that something waits.
func (d *door) result(session authz.Session, a chattools.Answer) *mcp.CallToolResult {
	res := &mcp.CallToolResult{Meta: mcp.Meta{StatusKey: string(a.Status)}}
	text := a.Text
	switch a.Status {
	case chattools.Done:
		text = strings.ToValidUTF8(string(a.Result), "\uFFFD")
		if len(text) > d.config.MaxResult {
			text = cut(text, d.config.MaxResult)
		} else if strings.HasPrefix(text, "{") {
			res.StructuredContent = json.RawMessage(text)
		}
	case chattools.NeedsApproval:
		w := waiting{Status: a.Status, Proposal: a.Proposal, Text: a.Text}
		text += " The proposal is " + a.Proposal + "."
		if d.config.Link != nil {
			if w.Link = d.config.Link(session, a.Proposal); w.Link != "" {
				text += " A person decides about it here: " + w.Link
			}
		}
		res.StructuredContent = w
	default:
		if a.Proposal != "" {
			text += " The proposal is " + a.Proposal + "."
		}
		res.IsError = true
	}
	res.Content = []mcp.Content{&mcp.TextContent{Text: text}}
	return res
}

// cut shortens a text and says so.
func cut(text string, limit int) string {
	return strings.ToValidUTF8(text[:limit], "") + fmt.Sprintf("\n… cut: the result has %d bytes", len(text))
}
