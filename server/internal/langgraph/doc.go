// Package langgraph offers graphs to the clients of a LangGraph server: its SDKs, RemoteGraph, useStream.
//
// An assistant is a graph, a thread is a thread, a checkpoint is a commit, and a superstep is a step. A
// run of the protocol is one call of a run of the engine: an answer to its questions begins the next
// one. Its id is that of the engine's run for the first call; that of a later one is made of it and of
// the position at which the call continues, so both are found in the log.
//
// A [registry] runs graphs; a run continues when its readers leave. A run has one list of events with
// positions: all durable ones, and live ones as long as they are remembered; a run that this process does not
// know is read from the log. A stream tells one run after the other. For each it has a [fold], which follows the
// events, and the words of one of the protocols ([older], [newer]) over it.
//
// A field that this server does not act on is refused with status 422.
package langgraph
