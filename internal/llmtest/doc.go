// Package llmtest plays a provider of models, and its faults, on this machine.
//
//	s := llmtest.NewServer(llmtest.Say("A volume keeps data."))
//	defer s.Close()
//	client, err := openai.New(openai.Config{BaseURL: s.URL()})
//
// A server is given the behaviours of its calls in order; the last one repeats.
// It counts and keeps what it was asked, so that a test can say exactly how
// often a provider was called, with which words and which key.
package llmtest
