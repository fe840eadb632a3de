// Package mcp lets agents of other programs search and read the documents and ask questions, by the
// Model Context Protocol: over HTTP without sessions, so that a client survives a restart of the
// server, and over standard input and output.
//
// server.go makes a server for one caller; tools.go and documents.go have what it offers.
package mcp
