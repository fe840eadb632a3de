package server

import "example.com/ragflow/server/internal/door"

// Routes are all routes of the server.
func (s *Server) Routes() []door.Route { return s.gate.Routes() }
