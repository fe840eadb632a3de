package ocr

import "time"

// SetMaxTime sets how long the program may take for one picture.
func (r *Reader) SetMaxTime(d time.Duration) { r.maxTime = d }
