package chat

// token returns what a live event adds to the answer; begins is set where the
// answer is written anew from there.
func token(v any) (text string, begins, ok bool) {
	t, ok := v.(interface {
		Token() (text string, begins bool)
	})
	if !ok {
		return "", false, false
	}
	text, begins = t.Token()
	return text, begins, true
}
