//go:build !amd64 && !arm64

package meaning

func kernels() []kernel { return []kernel{portable()} }
