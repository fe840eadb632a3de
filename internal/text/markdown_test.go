package text_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/text"
)

func TestFences(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"none", "a `b` c", nil},
		{"one", "a\n```sh\nls\n```\nb", []string{"```sh\nls\n```\n"}},
		{"open", "~~~\nls", []string{"~~~\nls"}},
		{"longer", "````\n```\n````\n", []string{"````\n```\n````\n"}},
		{"tildes do not close backticks", "```\n~~~\n```\nx", []string{"```\n~~~\n```\n"}},
		{"info does not close", "```\n```sh\n```", []string{"```\n```sh\n```"}},
		{"inline", "``` a ``` b\n", nil},
		{"indented", "   ```\n   a\n  ```", []string{"   ```\n   a\n  ```"}},
		{"too far in", "    ```\na\n", nil},
		{"two", "```\na\n```\nb\n~~~\nc\n~~~", []string{"```\na\n```\n", "~~~\nc\n~~~"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, s := range text.Fences(tt.in) {
				got = append(got, tt.in[s.Start:s.End])
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlaceholders(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"none", "docker run {{.Name}}", "docker run {{.Name}}"},
		{"parameter", `curl {{% param "download-url-base" %}}/gpg`, "curl <download-url-base>/gpg"},
		{"without quotes", "v{{< param version >}}-1", "v<version>-1"},
		{"another", `{{< tab name="Latest" >}}run`, "run"},
		{"several", `{{% param "a" %}}:{{% param "b" %}}`, "<a>:<b>"},
		{"open", `{{% param "a"`, `{{% param "a"`},
		{"empty", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := text.Placeholders(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
