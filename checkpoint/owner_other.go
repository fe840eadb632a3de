//go:build !linux && !darwin

package checkpoint

// bootAndNamespace returns nothing: here a lease of a dead process ends by itself.
func bootAndNamespace() string { return "" }

func processExists(int) bool { return true }
