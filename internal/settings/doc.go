// Package settings finds out what is configured. A value comes from the first of: flag,
// environment, .env, configuration file, default.
//
//	s, notices, err := settings.Load(settings.Input{Dir: dir, Env: env, Flags: flags})
//	if err == nil {
//		err = s.CheckTrust()
//	}
//	if err == nil {
//		err = s.Models.Configure(&s.Config, settings.AllModels)
//	}
//	assistant, err := ragflow.Open(ctx, s.Config)
//
// # Rules
//
// Each setting is one row of a table in table.go or modeltable.go: its variable, default,
// allowed values, flag, and the field of ragflow.Config that it sets. No other package knows
// how settings are read.
//
// Files of a project may have been written by somebody else. Until a person trusts their
// content, they set only what is safe; the rest is left out and listed in Settings.Refused.
// Databases that came with a project need trust too, and a key of the environment is never
// sent to an address that a file of the project names. SECURITY.md has the whole list.
//
// The package prints nothing: what a person should read is returned as a [Notice], and what
// is wrong as an [Error] with a hint. It calls no model before [Models.Probe].
package settings
