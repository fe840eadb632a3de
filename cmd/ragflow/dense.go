package main

import (
	"fmt"
	"strconv"

	"example.com/ragflow/ingest"
)

// denseTrouble warns where passages cannot be found by meaning.
func (a *app) denseTrouble(r *ingest.DenseReport) {
	if r == nil || a.quiet {
		return
	}
	switch {
	case r.Error != "" && r.Chunks == 0: // the vectors there are cannot be used, so none was looked at
		fmt.Fprintf(a.err, "warning: search by meaning is left out: %s\n", line(r.Error))
	case r.Error != "":
		fmt.Fprintf(a.err, "warning: search by meaning is incomplete, %s of %s without a vector: %s\n",
			strconv.Itoa(r.Missing), count(r.Chunks, "passage"), line(r.Error))
	case r.Missing > 0:
		fmt.Fprintf(a.err, "warning: search by meaning is incomplete, the model refused %s\n", count(r.Missing, "passage"))
	}
}

// embedded sums up what embedding did, on one line; empty where it did nothing.
func embedded(r *ingest.DenseReport) string {
	if r == nil || r.Embedded == 0 {
		return ""
	}
	return fmt.Sprintf("embedded %s with %s", count(r.Embedded, "passage"), line(r.Model))
}
