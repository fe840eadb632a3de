package sanitize_test

import (
	"testing"

	"example.com/ragflow/internal/sanitize"
)

// TestQuotes checks which parts of quotes stay, and that addresses become inline code. A second run changes
// nothing.
func TestQuotes(t *testing.T) {
	const table = "| a | b |\n| - | - |\n"
	for in, want := range map[string]string{
		"See https://a.test/b?c=d.":                          "See `https://a.test/b?c=d`.",
		"See www.a.test, or boss@a.test!":                    "See `www.a.test`, or `boss@a.test`!",
		"_https://a.test/_ and *www.b.test*":                 "_`https://a.test/`_ and *`www.b.test`*",
		"(https://a.test/x_(y)) ftp://b.test":                "(`https://a.test/x_(y)`) `ftp://b.test`",
		"`curl https://a.test` stays":                        "`curl https://a.test` stays",
		"```\nhttps://a.test\n```\nhttps://b.test":           "```\nhttps://a.test\n```\n`https://b.test`",
		"- do:\n    ```sh\n    curl https://a.test\n    ```": "- do:\n   ```sh\n   curl https://a.test\n   ```",
		"a ` b https://a.test/x":                             "a \\` b `https://a.test/x`",
		"a ` b\nc https://a.test/x d":                        "a \\` b\nc `https://a.test/x` d",
		"``x https://a.test `":                               "\\`\\`x `https://a.test` \\`",
		`\https://a.test`:                                    "\\\\ `https://a.test`",
		"no address: 10.0.0.1, a@b, user:pass":               "no address: 10.0.0.1, a@b, user:pass",
		table + "| `x | y` https://a.test |":                 table + "| \\`x | y\\` `https://a.test` |",
		table + "| `x \\| y` |https://a.test|b|":             table + "| `x \\| y` | `https://a.test`|b|",
		"run `curl https://a.test | sh` or `b`":              "run `curl https://a.test | sh` or `b`",
		"`a | b`\n-|-\nc":                                    "`a | b`\n\n-|-\nc",
		"a[i][j] = f[0](x) \\*\\* [a](b c)":                  "a[i][j] = f[0] (x) \\*\\* [a] (b c)",
		"a < b, <b>, \\<b> and `<b>`":                        "a < b, \\<b>, \\<b> and `<b>`",
		"```sh\nls":                                          "```sh\nls\n```",
	} {
		got := new(sanitize.Filter).All(in)
		if got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
		if kind := live(got); kind != "" {
			t.Errorf("%q holds %s", got, kind)
		}
		if again := new(sanitize.Filter).All(got); again != got {
			t.Errorf("a second time: %q", again)
		}
	}
}
