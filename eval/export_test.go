package eval

// WriteRaw writes what a crash may leave behind.
func (j *Journal) WriteRaw(s string) (int, error) { return j.file.WriteString(s) }
