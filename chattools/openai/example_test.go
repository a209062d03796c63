package openai_test

import (
	"context"
	"fmt"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/openai"
)

// A model reads by itself; the refund it asks for waits for a person. The server stands for OpenAI's, or for
// another that speaks chat completions.
func Example() {
	server := newAPI(
		reply{stop: "tool_calls", pieces: []said{{call: "find", input: `{"id":7}`}}},
		reply{stop: "tool_calls", pieces: []said{{call: "refund", input: `{"order":"W7","cents":500}`}}},
		reply{stop: "stop", pieces: []said{{text: "I asked for a refund of 5.00; it waits for approval."}}},
	)
	defer server.Close()
	shop := newWorld()

	// A host makes the SDK's client with its own key, and for other servers with their address:
	// sdk.NewClient(option.WithAPIKey(key), option.WithBaseURL("http://localhost:11434/v1")).
	model := must(openai.NewChat(server.client(), openai.Options{Model: "gpt-5"}))
	loop := chattools.NewLoop(shop.gate, model, chattools.Options{System: "You help a shop's staff."})
	conversation := new(chattools.Conversation)
	reply := must(loop.Say(context.Background(), shop.session, conversation, "Refund order W7, please.", nil))
	fmt.Println(reply.Text)
	fmt.Println("ran:", shop.ran, "waiting:", len(reply.Waiting))
	// Output:
	// I asked for a refund of 5.00; it waits for approval.
	// ran: [find] waiting: 1
}
