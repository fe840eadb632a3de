package text_test

import (
	"testing"

	"example.com/ragflow/search/text"
)

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
