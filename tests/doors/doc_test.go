// Package doors_test uses the server with the clients that people have: each in its own language,
// installed by scripts/clients, against the program itself.
package doors_test
