// Package agent is a tool-calling agent as a graph: a model calls tools, sees their results,
// and calls more tools or answers.
//
//	add := agent.Func("add", "Adds two numbers.", func(_ context.Context, in struct{ A, B float64 }) (float64, error) {
//		return in.A + in.B, nil
//	})
//	plan, err := agent.Compile(agent.Agent{Chat: chat, Tools: []agent.Tool{add}})
//	runner := plan.Runner(graph.Options{Store: store})
//	s, err := runner.Invoke(ctx, graph.Request[agent.Update]{Thread: "sums", Input: agent.Say("What is 2.5 + 4?")})
//	fmt.Println(s.Reply())
//
// # Rules
//
// The graph has the nodes "model" and "tools", and "answer" if an agent has a structured
// [Agent].Answer. Everything that package graph promises holds: each step and each finished tool call is
// saved, so a killed run continues with what is missing.
//
// The calls of one message run side by side. A call of an unknown tool, arguments that are no
// JSON or do not match the schema, an error, a panic and a timeout become results, which the
// model sees. [Limits] bound the calls, the tokens and the cost of a turn.
//
// A tool with [Tool].Approve waits for a person: the run ends as interrupted with a question
// whose Ask is an [Approval] and whose answer is a [Decision]. Each call is decided separately, and its tool
// runs at once. The model gets the arguments as a person changed them.
//
// If a new message closes the run before all calls have their results, the model gets the saved results, the calls
// that were not carried out, and those that had begun and may have been. An agent in a subgraph loses its state
// with the run instead.
//
// Several agents share a conversation: an agent calls the tool "hand_over_to_NAME", which it has for each
// name in [Agent].HandOver, and that agent continues.
//
// While the model writes, its text is emitted as live events of kind graph.Token, and pieces of
// its tool calls as events of kind graph.Custom with an llm.ToolCall. Results follow as events
// with a state.Message.
package agent
