package doors_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// lgStep is a request of the script that both servers get. $T is the thread, $A the assistant, $C the oldest
// checkpoint of the last history.
type lgStep struct{ method, path, body string }

const lgModes = `"stream_mode":["values","updates","custom","tasks","checkpoints"]`

// lgScript goes through the rows of the protocol.
func lgScript() []lgStep {
	return []lgStep{
		{"POST", "/assistants/search", `{"graph_id":"shop"}`},
		{"GET", "/assistants/$A", ""},
		{"GET", "/assistants/shop/graph", ""},
		{"POST", "/threads", `{"metadata":{"a":1,"b":"x"}}`},
		{"GET", "/threads/$T/state", ""},
		{"GET", "/threads/$T/history", ""},
		{"POST", "/threads", `{"thread_id":"$T"}`},
		{"POST", "/threads", `{"thread_id":"$T","if_exists":"do_nothing"}`},
		{"PATCH", "/threads/$T", `{"metadata":{"c":true}}`},
		{"POST", "/threads/search", `{"metadata":{"a":1},"select":["status","metadata"]}`},
		{"POST", "/threads/count", `{"metadata":{"a":1}}`},
		{"POST", "/threads/search", `{"select":["nope"]}`},
		{"POST", "/threads/$T/runs/stream", `{"assistant_id":"shop","input":{"item":"book","messages":[{"type":"human","content":"hi","id":"u1"}]},` + lgModes + `}`},
		{"GET", "/threads/$T", ""},
		{"GET", "/threads/$T/state", ""},
		{"POST", "/threads/$T/history", `{"limit":10}`},
		{"GET", "/threads/$T/runs", ""},
		{"POST", "/threads/$T/runs/stream", `{"assistant_id":"shop","command":{"resume":true},"stream_mode":["values","updates"]}`},
		{"GET", "/threads/$T/state", ""},
		{"POST", "/threads/$T/history", `{"limit":10}`},
		{"POST", "/threads/$T/runs/wait", `{"assistant_id":"shop","input":null}`},
		{"POST", "/threads/$T/runs/wait", `{"assistant_id":"shop","input":{"item":"lamp"},"interrupt_before":["pay"]}`},
		{"GET", "/threads/$T", ""},
		{"POST", "/threads/$T/runs/stream", `{"assistant_id":"shop","input":{"item":"bad"},"stream_mode":["values","updates"]}`},
		{"GET", "/threads/$T", ""},
		{"POST", "/threads/$T/runs/wait", `{"assistant_id":"shop","input":{"item":"bad"}}`},
		{"POST", "/threads/$T/runs/stream", `{"assistant_id":"shop","input":{"item":"pen"},"config":{"recursion_limit":1},"stream_mode":"updates"}`},
		{"POST", "/threads/$T/runs/wait", `{"assistant_id":"nope","input":{}}`},
		{"POST", "/threads/$T/runs/wait", `{"input":{}}`},
		{"POST", "/threads/$T/runs/wait", `{"assistant_id":"shop","input":{},"stream_mode":"nope"}`},
		{"POST", "/threads/$T/state", `{"values":{"price":9}}`},
		{"POST", "/threads/$T/state", `{"values":{"price":9},"as_node":"nope"}`},
		{"POST", "/threads/$T/copy", ""},
		{"POST", "/runs/wait", `{"assistant_id":"shop","input":{"item":"cup"}}`},
		{"PUT", "/store/items", `{"namespace":["a","b"],"key":"k","value":{"x":1}}`},
		{"GET", "/store/items?namespace=a.b&key=k", ""},
		{"POST", "/store/items/search", `{"namespace_prefix":["a"]}`},
		{"DELETE", "/store/items", `{"namespace":["a","b"],"key":"k"}`},
		{"POST", "/threads/$T/commands", `{"id":1,"method":"run.start","params":{}}`},
		{"POST", "/threads/$T/commands", `{"id":1,"method":"nope","params":{}}`},
		{"POST", "/threads/$T/commands", `{"method":"run.start"}`},
		{"POST", "/threads/$T/stream/events", `{"channels":["nope"]}`},
		{"DELETE", "/threads/$T", ""},
		{"GET", "/threads/$T", ""},
		{"GET", "/threads/00000000-0000-4000-8000-000000000000/state", ""},
	}
}

// lgVaries are values that differ from run to run, so that only their kind is compared.
var lgVaries = regexp.MustCompile(`^(.*_id|id|created_at|updated_at|state_updated_at|timestamp|checkpoint_id|detail|message)$`)

// lgTask is a key that varies; lgFacts are members about their installation.
var (
	lgTask  = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f-]{27}$`)
	lgFacts = regexp.MustCompile(`^(langgraph_.*|__after_seconds__|__request_start_time_ms__|run_attempt|user_id|created_by)$`)
)

// lgOnlyTheirs are members that this server leaves out, or fills in another way, with the reason.
var lgOnlyTheirs = map[string]string{
	"kwargs":                 "the request is not kept, so that no secret of a configuration lies in the log",
	"langsmith_session_name": "there is no LangSmith",
	"config":                 "a thread has no configuration; that of a checkpoint has its place alone",
	"parent_config":          "as config",
	"step":                   "steps count from 0 in each run, as in its trace",
	"name":                   "of messages: absent instead of null",
	"source":                 "the input is the first checkpoint, without one before it",
	"error":                  "kinds of errors are those of Go",
	"response_schema":        "questions have a schema here",
	"metadata":               "of runs, tasks and checkpoints: the facts of LangSmith are not there",
	"input":                  "a task gets the whole state",
	"checkpoint":             "an event of a checkpoint names it, as those of debug do",
	"parent_checkpoint":      "as checkpoint",
	"state":                  "null instead of absent",
	"result":                 "an update of Go has all its fields",
	"messages":               "as result",
}

// TestIntegrationLangGraphOracle gives the same script to LangGraph's own server and compares.
func TestIntegrationLangGraphOracle(t *testing.T) {
	oracle, _ := lgOracle(t, filepath.Join(clients(t, "langgraph"), "python"))
	theirs := lgTrace(t, oracle)
	ours := lgTrace(t, lgServe(t))
	want, err := os.ReadFile(filepath.Join("langgraph", "differences.txt"))
	if err != nil {
		t.Fatal(err)
	}
	got := new(strings.Builder)
	for i, s := range lgScript() {
		minus, plus := lgLacks(theirs[i], ours[i]), lgLacks(ours[i], theirs[i])
		if minus+plus != "" {
			fmt.Fprintf(got, "%s %s %s\n# %s\n%s%s", s.method, s.path, s.body, lgWhy[s.method+" "+s.path], prefixed("- ", minus), prefixed("+ ", plus))
		}
	}
	if i := strings.Index(got.String(), "\n# \n"); i >= 0 {
		t.Errorf("a difference without a reason in:\n%s", got)
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(filepath.Join("langgraph", "differences.txt"), []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("other differences than langgraph/differences.txt has (UPDATE=1 writes it):\n%s", d)
	}
}

// lgWhy are the reasons of the differences that stay.
var lgWhy = map[string]string{
	"POST /threads":                  "a new thread has all its fields",
	"PATCH /threads/$T":              "as a new thread",
	"POST /threads/$T/runs/stream":   "the input is one checkpoint and not two; tasks end before an interrupt is told",
	"GET /threads/$T/state":          "metadata of threads and of LangSmith are not repeated in states",
	"POST /threads/$T/history":       "the input is one checkpoint and not two",
	"GET /threads/$T":                "a thread has no configuration",
	"POST /threads/$T/copy":          "a copy has the status and the values of its original",
	"POST /threads/$T/stream/events": "there are checkpoints here, too",
}

// lgLacks returns the lines of a that b lacks.
func lgLacks(a, b string) string {
	there := map[string]int{}
	for line := range strings.Lines(b) {
		there[line]++
	}
	out := ""
	for line := range strings.Lines(a) {
		if there[line]--; there[line] < 0 {
			out += line
		}
	}
	return out
}

func prefixed(sign, text string) string {
	out := ""
	for line := range strings.Lines(text) {
		out += sign + line
	}
	return out
}

// lgOracle starts LangGraph's own server and returns its address and its process.
func lgOracle(t *testing.T, python string) (url string, pid int) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"shop.py", "langgraph.json"} {
		body, err := os.ReadFile(filepath.Join("langgraph", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), body, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port) //nolint:forcetypeassert // of TCP
	_ = l.Close()
	c := exec.CommandContext(t.Context(), filepath.Join(python, "bin", "langgraph"), "dev", "--no-browser", "--no-reload", "--port", port)
	c.Dir = dir
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	url = "http://127.0.0.1:" + port
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if resp, err := http.Get(url + "/ok"); err == nil { //nolint:noctx // of a test
			_ = resp.Body.Close()
			return url, c.Process.Pid
		}
	}
	t.Fatal("langgraph dev does not start")
	return "", 0
}

// lgTrace runs the script and returns what the server answers, without what varies.
func lgTrace(t *testing.T, url string) (out []string) {
	t.Helper()
	known := map[string]string{"$A": "d0519622-ebf6-5f53-8f40-87311efbb70e"}
	for _, s := range lgScript() {
		path, body := s.path, s.body
		for k, v := range known {
			path, body = strings.ReplaceAll(path, k, v), strings.ReplaceAll(body, k, v)
		}
		r, err := http.NewRequestWithContext(t.Context(), s.method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			Thread string `json:"thread_id"`
		}
		if json.Unmarshal(text, &v) == nil && known["$T"] == "" && v.Thread != "" {
			known["$T"] = v.Thread
		}
		shown := fmt.Sprintln(resp.StatusCode)
		if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
			for event := range strings.SplitSeq(strings.ReplaceAll(string(text), "\r", ""), "\n\n") {
				name, data, ok := strings.Cut(event, "\ndata: ")
				if ok {
					data, _, _ = strings.Cut(data, "\nid: ")
					shown += name + "\n" + lgPlain([]byte(data))
				}
			}
		} else {
			shown += lgPlain(text)
		}
		out = append(out, shown)
	}
	return out
}

// lgPlain is JSON line by line, without what varies.
func lgPlain(body []byte) string {
	var v any
	if len(strings.TrimSpace(string(body))) == 0 || json.Unmarshal(body, &v) != nil {
		return string(body) + "\n"
	}
	var lines []string
	lgWalk("", v, &lines)
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

func lgWalk(path string, v any, lines *[]string) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			*lines = append(*lines, path+" {}")
		}
		for k, x := range v {
			if _, theirs := lgOnlyTheirs[k]; theirs && path != "" || lgFacts.MatchString(k) {
				continue
			}
			if _, isText := x.(string); isText && lgVaries.MatchString(k) {
				x = "TEXT"
			}
			if lgTask.MatchString(k) {
				k = "TASK"
			}
			lgWalk(path+"."+k, x, lines)
		}
	case []any:
		if len(v) == 0 {
			*lines = append(*lines, path+" []")
		}
		for i, x := range v {
			lgWalk(fmt.Sprintf("%s[%d]", path, i), x, lines)
		}
	default:
		*lines = append(*lines, fmt.Sprintf("%s %v", path, v))
	}
}
