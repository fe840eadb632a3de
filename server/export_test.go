package server

import "example.com/ragflow/server/internal/door"

// Routes are all routes of the server.
func (s *Server) Routes() []door.Route { return s.gate.Routes() }

// LogIn returns a session of a token.
func (s *Server) LogIn(secret string) string { return s.keys.LogIn(secret) }
