package main

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"example.com/ragflow"
	"example.com/ragflow/threads"
)

// lastName names the thread or run that was used last.
const lastName = "last"

// findThread returns the id of the thread that is named by its id, the beginning of one, or "last".
func findThread(ctx context.Context, log *threads.Log, name string) (string, error) {
	list, err := log.All(ctx)
	if err != nil {
		return "", failed("list threads", err)
	}
	return pickThread(list, name)
}

// pickThread is findThread in a list that has the last used thread first. The beginning of a name
// finds nothing: a question to "user-1" must not reach "user-12".
func pickThread(list []threads.Info, name string) (string, error) {
	var found []string
	short := ""
	for _, t := range list {
		if t.ID == name {
			return name, nil
		}
		if len(name) >= minStart && idStart.MatchString(t.ID) && strings.HasPrefix(t.ID, name) {
			short = t.ID
		}
		if idStart.MatchString(name) && strings.HasPrefix(t.ID, name) {
			found = append(found, t.ID)
		}
	}
	switch {
	case name == lastName && len(list) > 0:
		return list[0].ID, nil
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", usagef("thread %q: %s begin so", name, count(len(found), "thread")).with("give more of the id; ragflow threads list shows them")
	}
	if short != "" {
		return "", usagef("thread %q: too short for the beginning of an id", name).with("give at least eight characters, such as " + short[:8])
	}
	return "", notFoundf("thread %q: not found", name).with(threadsHint)
}

// idStart matches the beginning of an id as ragflow makes them, long enough not to be a name
// that a person gives.
var idStart = regexp.MustCompile(`^[0-9a-f]{8}[0-9a-f-]*$`)

// minStart is the length of a name that is refused, instead of beginning a thread, if an id
// begins so and it is too short for idStart.
const minStart = 5

// checkThreadName refuses a name that is too long or cannot be printed on one line.
func checkThreadName(name string) error {
	if utf8.RuneCountInString(name) > 200 {
		return failed("", ragflow.ErrThreadName)
	}
	if line(name) != name {
		return usagef("the name of a thread, %q, must be on one line and have no control characters", name)
	}
	return nil
}

// threadToAsk returns the id of the thread for a question, and whether it is new: a name that no
// thread has begins one, for programs that name threads after their users.
func threadToAsk(ctx context.Context, log *threads.Log, name string, resume bool) (id string, isNew bool, err error) {
	if err := checkThreadName(name); err != nil {
		return "", false, err
	}
	id, err = findThread(ctx, log, name)
	f, ok := errors.AsType[*failure](err)
	if ok && f.code == exitNotFound && !resume && name != lastName {
		return name, true, nil
	}
	return id, false, err
}
