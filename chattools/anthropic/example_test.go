package anthropic_test

import (
	"context"
	"fmt"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/anthropic"
)

// A model reads by itself; the refund it asks for waits for a person. The server stands for Anthropic's.
func Example() {
	server := newAPI(
		reply{stop: "tool_use", blocks: []said{{call: "find", input: `{"id":7}`}}},
		reply{stop: "tool_use", blocks: []said{{call: "refund", input: `{"order":"W7","cents":500}`}}},
		reply{stop: "end_turn", blocks: []said{{text: "I asked for a refund of 5.00; it waits for approval."}}},
	)
	defer server.Close()
	shop := newWorld()

	// A host makes the SDK's client with its own key: sdk.NewClient(option.WithAPIKey(key)).
	model := must(anthropic.New(server.client(), anthropic.Options{Model: "claude-opus-5-5"}))
	loop := chattools.NewLoop(shop.gate, model, chattools.Options{System: "You help a shop's staff."})
	conversation := new(chattools.Conversation)
	reply := must(loop.Say(context.Background(), shop.session, conversation, "Refund order W7, please.", nil))
	fmt.Println(reply.Text)
	fmt.Println("ran:", shop.ran, "waiting:", len(reply.Waiting))
	// Output:
	// I asked for a refund of 5.00; it waits for approval.
	// ran: [find] waiting: 1
}
