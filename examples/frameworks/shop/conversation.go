package shop

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
)

// Conversation is one conversation of Olga with the shop's model. It holds the session, which no framework and
// no model can change, and remembers what was proposed: a host with a database keeps those ids beside the
// messages. It is safe for concurrent use.
type Conversation struct {
	shop    *Shop
	session authz.Session
	tell    func(chattools.Call, chattools.Answer)

	mu        sync.Mutex
	proposals []string
	told      map[string]string // status by proposal, as far as the model knows
}

// Talk opens a conversation. Tell, which may be nil, is called for one answered call at a time.
func (s *Shop) Talk(tell func(chattools.Call, chattools.Answer)) (*Conversation, error) {
	session, err := authz.NewSession(scope, "assistant", authz.For(olga))
	if err != nil {
		return nil, err
	}
	if tell == nil {
		tell = func(chattools.Call, chattools.Answer) {}
	}
	return &Conversation{shop: s, session: session.WithConversation("c1").WithOrigin("chat"), tell: tell, told: map[string]string{}}, nil
}

// Tools returns the tools that the model may use now. Ask for them anew for every message.
func (c *Conversation) Tools(ctx context.Context) ([]chattools.BoundTool, error) {
	tools, err := c.shop.Gate.Tools(ctx, c.session)
	for i := range tools {
		name, call := tools[i].Name, tools[i].Call
		tools[i].Call = func(ctx context.Context, arguments json.RawMessage) chattools.Answer {
			return c.noted(chattools.Call{Name: name, Arguments: arguments}, call(ctx, arguments))
		}
	}
	return tools, err
}

// Call answers a call by name, for the names that are not among the tools: the gate says what they are.
func (c *Conversation) Call(ctx context.Context, call chattools.Call) chattools.Answer {
	return c.noted(call, c.shop.Gate.Call(ctx, c.session, call))
}

func (c *Conversation) noted(call chattools.Call, a chattools.Answer) chattools.Answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.Status == chattools.NeedsApproval && c.told[a.Proposal] == "" {
		c.proposals = append(c.proposals, a.Proposal)
		c.told[a.Proposal] = "waiting"
	}
	c.tell(call, a)
	return a
}

// Proposals returns the ids of what was proposed.
func (c *Conversation) Proposals() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.proposals...)
}

// News says what the model has not been told yet about its proposals, in the gate's words and as the ledger
// knows it, to be put before the next message. It is empty if there is none.
func (c *Conversation) News(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var news []chattools.Notice
	for i := 0; i < len(c.proposals); i++ { // what replaces a revised proposal joins the list
		st, err := c.shop.Gate.Desk().Status(ctx, c.session, c.proposals[i])
		if err != nil {
			return "", err
		}
		if c.told[st.Proposal] == st.Status {
			continue
		}
		c.told[st.Proposal] = st.Status
		if st.Successor != "" {
			c.proposals = append(c.proposals, st.Successor)
		}
		news = append(news, chattools.Notice{Status: withoutEnd(st)})
	}
	if len(news) == 0 {
		return "", nil
	}
	return chattools.Message{Role: chattools.RoleNotice, Notices: news}.ForModel() + "\n", nil
}

// withoutEnd leaves out the moment of expiry, so that the same news are the same text.
func withoutEnd(st approval.Status) approval.Status {
	st.ExpiresAt = nil
	return st
}
