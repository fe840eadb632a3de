// Ragflow answers questions from a person's own documents, in conversations
// that last, and cites the source of every sentence.
//
//	ragflow ask --docs ./docs "How do I keep a container's data?"
//	ragflow ask --thread last "and how do I back it up?"
//
// Run it without arguments for an example that fits the folder you are in, and
// "ragflow help COMMAND" for all of a command.
//
// # Rules
//
// Data goes to standard output, everything else to standard error. With --json
// a command writes exactly one JSON object, whose schema is that of the struct in package
// ragflow. Colours and progress bars appear on terminals only, and never if NO_COLOR is set
// or TERM is dumb.
//
// Exit codes: 0 done, 1 failed, 2 wrong usage or a bad setting, 3 not found
// (thread, run, file or folder), 4 no answer (with --fail-on-no-answer), 130
// interrupted, 143 ended by SIGTERM. An error is one line that says what failed and why, and a
// second one that says what to do about it.
//
// A setting is taken from the first of: flag, environment, .env, configuration
// file, default. "ragflow config" shows each with the place it came from.
//
// # How it works
//
// main passes streams and environment to run, which builds the command tree for one call; nothing
// is global. A command has the file of its name: "ragflow index stats" is in indexstats.go, and
// its help in help/index-stats.txt. What commands share: flags.go their flags, settings.go and
// package internal/settings what is configured, assistant.go the way the assistant is opened,
// output.go how things are printed, failure.go the meaning of an error. Values go from one
// to the next as arguments; app only holds the streams.
package main
