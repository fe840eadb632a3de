// Ragflow answers questions from a person's own documents, in conversations
// that last, and says for every sentence where it stands.
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
// ragflow. Colours and progress bars appear on terminals only, and never where NO_COLOR
// is set or TERM is dumb.
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
// main hands streams and environment to run, which builds the command tree for
// one call; nothing is global. One file holds one command, and command.go what
// all commands do. Package config lists the settings, and settings.go finds their
// values; the folder help holds the texts of --help;
// flags.go declares the flags that several commands share; failure.go says what
// an error means to a person.
package main
