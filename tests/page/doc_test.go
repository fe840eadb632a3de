// Package page_test looks at the pages of the server with a real browser, which scripts/chromium unpacks.
package page_test
