package settings

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/agent/mcp"
	"example.com/ragflow/llm"
	"example.com/ragflow/longterm"
	"example.com/ragflow/longterm/postgres"
)

const someServers = "NAME=PROGRAM ARGUMENTS or NAME=ADDRESS, and allow=TOOLS, such as files=mcp-files /srv/manuals allow=read,list web=http://localhost:8931/mcp allow=search; " +
	"a program is a name in PATH or an absolute path"

var serverName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// toolServers reads MCP servers as words: NAME=PROGRAM or NAME=ADDRESS begins one; the words after
// it are arguments of the program, or allow=TOOL,TOOL.
func toolServers(to *[]mcp.Config) setter {
	return func(v string) bool {
		*to = nil
		for w := range strings.FieldsSeq(v) {
			key, value, is := strings.Cut(w, "=")
			last := len(*to) - 1
			switch {
			case last < 0 && key == "allow":
				return false
			case is && key == "allow":
				(*to)[last].Allow = append((*to)[last].Allow, strings.Split(value, ",")...)
				(*to)[last].Only = (*to)[last].Allow
			case is && serverName.MatchString(key):
				if slices.ContainsFunc(*to, func(c mcp.Config) bool { return c.Name == key }) || !isServer(value) {
					return false
				}
				*to = append(*to, mcp.Config{Name: key, Command: []string{value}})
				if strings.Contains(value, "://") {
					(*to)[last+1].Command, (*to)[last+1].URL = nil, value
				}
			case last < 0 || (*to)[last].URL != "":
				return false
			default:
				(*to)[last].Command = append((*to)[last].Command, w)
			}
		}
		return true
	}
}

// isServer reports whether a text is the address of a server, or a program that is the same in every folder:
// one of the working folder may be somebody else's.
func isServer(value string) bool {
	if strings.Contains(value, "://") {
		_, err := llm.CheckBaseURL(value)
		return err == nil
	}
	return value != "" && (filepath.IsAbs(value) || !strings.ContainsAny(value, `/\`))
}

// OpenMemory opens the facts that agents remember, beside the threads. The caller closes them.
func (s *Settings) OpenMemory(ctx context.Context) (*longterm.Store, error) {
	switch {
	case s.Models.store != "":
		return postgres.Open(ctx, s.Models.store, longterm.Options{})
	case s.Config.ThreadKeys != nil:
		return nil, errorf("%s is set, and facts cannot be encrypted", "RAGFLOW_THREAD_KEYS")
	}
	return longterm.Open(ctx, filepath.Join(s.Config.DataDir, MemoryFile), longterm.Options{})
}
