// Package config lists the settings of ragflow and says what each means for a
// ragflow.Config. It alone knows the names of settings, model providers and backends.
//
//	models := &config.Models{}
//	for _, s := range config.Table(&c, dataDir, models) {
//		ok := s.Take(values) // values of a flag, a variable or a line of a file
//	}
//	err := models.Configure(&c, config.AllModels)
//
// Where values come from, and which files may set what, is decided by the command line.
// Package config reads no file and no environment, and calls no model before it is asked.
package config
