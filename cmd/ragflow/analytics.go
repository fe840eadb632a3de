package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/internal/querylog"
	"example.com/ragflow/internal/settings"
)

func (a *app) analyticsCommand(g *given) *cobra.Command {
	var q ragflow.AnalyticsQuery
	var last age
	c := command("analytics", 0, func(c *cobra.Command, _ []string) error {
		q.Last = time.Duration(last)
		return a.with(c.Context(), g, opening{models: settings.NoModels, change: unlogged}, func(opened *session) error {
			r, err := opened.Analytics(c.Context(), q)
			if err != nil {
				return failed("", err)
			}
			return a.print(r, func() { a.printAnalytics(r) })
		})
	})
	c.Flags().Var(&last, "last", "only questions of this `TIME` until now, such as 30d or 12h (default: all that are kept)")
	c.Flags().StringArrayVar(&q.Collections, "collection", nil, "only questions that were answered from the collection `NAME`; may be repeated")
	c.Flags().StringVar(&q.Owner, "owner", "", "only questions of the owner `NAME` of a token")
	return a.jsonFlag(c)
}

// unlogged keeps what a command does out of the query log.
func unlogged(c *ragflow.Config) { c.QueryLogDays = -1 }

func (a *app) printAnalytics(r *querylog.Report) {
	if r.Note != "" {
		a.warn(r.Note)
	}
	if r.Missing > 0 {
		a.warn(count(int(r.Missing), "question") + " could not be logged and are missing here")
	}
	if r.Unreadable > 0 {
		a.warn(count(r.Unreadable, "question") + " cannot be decrypted and are missing here: give the keys in RAGFLOW_THREAD_KEYS")
	}
	if r.Questions+r.Searches == 0 {
		a.tell("%s", nothingLogged(r))
		return
	}
	a.printCounts(r)
	a.printStages(r.Stages)
	a.printAsked("ASKED MOST", r.Top)
	a.printAsked("NOT IN THE DOCUMENTS", r.Unanswered)
	a.printGaps(r.Gaps)
	a.printAsked("WHY QUESTIONS FAILED", r.Errors)
	a.printGroups("COLLECTION", r.Collections)
	a.printGroups("OWNER", r.Owners)
	a.printGroups("MODEL", r.Models)
}

// nothingLogged says that nothing of a report was logged, and how to change that.
func nothingLogged(r *querylog.Report) string {
	text := "no question was logged"
	if !r.From.IsZero() {
		text += " in this time"
	}
	if len(r.OfCollections) > 0 {
		text += " that used " + strings.Join(r.OfCollections, ", ") + " alone"
	}
	if r.OfOwner != "" {
		text += " of the owner " + r.OfOwner
	}
	if len(r.OfCollections) > 0 || r.OfOwner != "" {
		return text + "; without --collection and --owner all are counted"
	}
	return text + "; ragflow ask, search, chat and serve log them, unless query_log is off"
}

func (a *app) printCounts(r *querylog.Report) {
	rows := [][]string{{"questions", thousands(r.Questions)}}
	add := func(name string, n int, note ...string) {
		if n > 0 {
			rows = append(rows, append([]string{name, thousands(n)}, note...))
		}
	}
	add("answered", r.Answered)
	add("not in the documents", r.Declined, percent(r.DeclinedRate)+" of those that did not fail")
	add("failed", r.Failed, percent(r.FailedRate)+" of all")
	add("cancelled", r.Cancelled)
	add("searched twice", r.Retried)
	cached := percent(r.CachedRate) + " of those that did not fail"
	if r.Similar > 0 {
		cached += ", " + thousands(r.Similar) + " of them for a similar question"
	}
	add("from the cache", r.Cached, cached)
	if r.CachedSearches > 0 {
		add("searches", r.Searches, thousands(r.CachedSearches)+" from the cache")
	} else {
		add("searches", r.Searches)
	}
	add("without a passage", r.Empty, percent(r.EmptyRate)+" of questions and searches")
	add("tokens", int(r.InputTokens+r.OutputTokens), thousands(int(r.InputTokens))+" in, "+thousands(int(r.OutputTokens))+" out")
	if r.CostUSD > 0 {
		rows = append(rows, []string{"cost", dollars(r.CostUSD)})
	}
	a.table(rows...)
}

func (a *app) printStages(stages []querylog.Stage) {
	rows := [][]string{{"TIME", "HALF WITHIN", "95 % WITHIN", "LONGEST", "SHARE"}}
	for _, s := range stages {
		name, share := s.Name, percent(s.Share)
		switch name {
		case "total":
			name, share = "a question", ""
		case querylog.Search:
			name, share = "a search", ""
		}
		rows = append(rows, []string{name, latency(s.P50MS), latency(s.P95MS), latency(s.MaxMS), share})
	}
	a.section(rows)
}

func (a *app) printAsked(title string, list []querylog.Asked) {
	rows := [][]string{{"TIMES", title}}
	for _, q := range list {
		rows = append(rows, []string{thousands(q.Count), shortened(q.Text)})
	}
	a.section(rows)
}

func (a *app) printGaps(gaps []querylog.Gap) {
	rows := [][]string{{"TIMES", "WHAT PEOPLE ASK AND THE DOCUMENTS DO NOT HOLD"}}
	for _, g := range gaps {
		for i, q := range g.Questions[:min(len(g.Questions), 4)] {
			times := ""
			if i == 0 {
				times = thousands(g.Count)
			}
			rows = append(rows, []string{times, shortened(q)})
		}
	}
	a.section(rows)
}

// printGroups prints a table of groups, if there is more than one.
func (a *app) printGroups(title string, groups []querylog.Group) {
	if len(groups) < 2 {
		return
	}
	rows := [][]string{{title, "QUESTIONS", "SEARCHES", "DECLINED", "FAILED", "95 % WITHIN", "COST"}}
	for _, g := range groups {
		rows = append(rows, []string{
			cmp.Or(shortened(g.Name), "(no name)"), thousands(g.Questions), thousands(g.Searches), thousands(g.Declined), thousands(g.Failed), latency(g.P95MS), dollars(g.CostUSD),
		})
	}
	a.section(rows)
}

// section prints a table below an empty line, unless it has only its head.
func (a *app) section(rows [][]string) {
	if len(rows) > 1 {
		fmt.Fprintln(a.out)
		a.table(rows...)
	}
}

// shortened is a text on one line that fits a table.
func shortened(text string) string {
	const most = 100
	runes := []rune(line(text))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}

// thousands is a number with commas between thousands.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

func dollars(usd float64) string {
	if usd == 0 {
		return "0"
	}
	return "$" + strings.TrimSuffix(fmt.Sprintf("%.4f", usd), "00")
}

// latency is a time in milliseconds as people read it.
func latency(ms float64) string {
	switch {
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f s", ms/1000)
}
