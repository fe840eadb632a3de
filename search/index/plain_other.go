//go:build !amd64

package index

func plainWidest(_ *plainBlock) (n int) { panic("index: this processor has no wide registers") }
