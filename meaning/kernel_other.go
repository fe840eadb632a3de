//go:build !amd64

package meaning

func kernels() []kernel { return []kernel{portable()} }
