// Package api is the server's own interface: documents, collections, searches, questions, runs,
// threads, feedback and analytics, as JSON. Package ragflow says what each value means; GET /api/openapi.json
// describes all of it, and GET /api is the same for people.
//
// An endpoint is a function from a request to a reply (endpoint.go); the description is made from
// their types (openapi.go).
package api
