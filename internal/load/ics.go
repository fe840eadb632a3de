package load

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// readICS writes each event, task and note of a calendar as a record: "Event: Review; When: …; Repeats: …".
func (d *draft) readICS() error { return d.readEntries("VEVENT VTODO VJOURNAL", calendarEntry) }

func calendarEntry(kind string, lines []contentLine) []string {
	first, people, except := map[string]contentLine{}, []string{}, []string{}
	for _, c := range slices.Backward(lines) {
		first[c.name] = c
	}
	for _, c := range lines {
		switch c.name {
		case "ATTENDEE":
			people = append(people, c.person())
		case "EXDATE":
			except = append(except, c.when())
		}
	}
	kind = map[string]string{"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Note"}[kind]
	var out []string
	for _, field := range [][2]string{
		{kind, cmp.Or(first["SUMMARY"].text(), "without a title")},
		{"When", timeSpan(first["DTSTART"], first["DTEND"], first["DURATION"].text())},
		{"Due", first["DUE"].when()},
		{"Repeats", recurrence(first["RRULE"].value)},
		{"Not on", strings.Join(except, ", ")},
		{"Instead of", first["RECURRENCE-ID"].when()},
		{"Where", first["LOCATION"].text()},
		{"Organiser", first["ORGANIZER"].person()},
		{"With", strings.Join(people, ", ")},
		{"Status", strings.ToLower(first["STATUS"].text())},
		{"Categories", first["CATEGORIES"].text()},
		{"Web", first["URL"].text()},
		{"Description", first["DESCRIPTION"].text()},
	} {
		if field[1] != "" {
			out = append(out, field[0]+": "+field[1])
		}
	}
	return out
}

// person returns the name of a person, or else the address.
func (c contentLine) person() string {
	return cmp.Or(plainValue(c.parameters["CN"]), strings.TrimPrefix(strings.Replace(c.text(), "MAILTO:", "mailto:", 1), "mailto:"))
}

// Forms of days and times in calendars, and in a document.
const (
	icsDay    = "20060102"
	icsTime   = "20060102T150405"
	shownDay  = "Mon 2006-01-02"
	shownTime = "Mon 2006-01-02 15:04"
)

// zone returns the name of the time zone of a time, "" if it has none.
func (c contentLine) zone() string {
	if strings.HasSuffix(c.value, "Z") {
		return " UTC"
	}
	if zone := plainValue(c.parameters["TZID"]); zone != "" {
		return " " + zone
	}
	return ""
}

// when returns a day, or a time and its zone; a value that is neither as it is.
func (c contentLine) when() string {
	if at, err := time.Parse(icsDay, c.value); err == nil {
		return at.Format(shownDay)
	}
	if at, ok := c.time(); ok {
		return at.Format(shownTime) + c.zone()
	}
	return c.text()
}

func (c contentLine) time() (at time.Time, ok bool) {
	at, err := time.Parse(icsTime, strings.TrimSuffix(c.value, "Z"))
	return at, err == nil
}

// timeSpan returns from when to when an event lasts. The end of days is the day after the last one.
func timeSpan(from, to contentLine, length string) string {
	if at, err := time.Parse(icsDay, to.value); err == nil {
		to.value = at.AddDate(0, 0, -1).Format(icsDay)
	}
	begin, end := from.when(), to.when()
	_, fromTime := from.time()
	_, toTime := to.time()
	switch {
	case end == "" && length != "":
		return begin + " for " + strings.Trim(strings.ToLower(length), "pt")
	case end == "" || end == begin:
		return begin
	case fromTime && toTime && strings.HasPrefix(begin, end[:len(shownDay)]) && from.zone() == to.zone():
		return begin[:len(shownTime)] + " to" + end[len(shownDay):]
	}
	return begin + " to " + end
}

// Words of recurrence rules.
var (
	units    = map[string]string{"SECONDLY": "second", "MINUTELY": "minute", "HOURLY": "hour", "DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
	weekdays = map[string]string{"MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday", "SA": "Saturday", "SU": "Sunday"}
	ordinals = map[string]string{"1": "the first ", "2": "the second ", "3": "the third ", "4": "the fourth ", "5": "the fifth ", "-1": "the last ", "-2": "the last but one "}
)

// recurrence returns a rule such as FREQ=WEEKLY;BYDAY=MO in words. Parts without words follow as they are.
func recurrence(rule string) string {
	parts := map[string]string{}
	for part := range strings.SplitSeq(strings.ToUpper(rule), ";") {
		if key, value, ok := strings.Cut(part, "="); ok && value != "" {
			parts[key] = plainValue(value)
		}
	}
	unit := units[parts["FREQ"]]
	if unit == "" {
		return plainValue(rule)
	}
	every := "every " + unit
	if n := cmp.Or(parts["INTERVAL"], "1"); n != "1" {
		every = "every " + n + " " + unit + "s"
	}
	words := map[string]string{
		"BYMONTH": " in " + listed(parts["BYMONTH"], monthName), "BYMONTHDAY": " on day " + listed(parts["BYMONTHDAY"], strings.ToLower),
		"BYDAY": " on " + listed(parts["BYDAY"], weekday), "COUNT": ", " + parts["COUNT"] + " times", "UNTIL": ", until " + day(parts["UNTIL"]),
	}
	for _, key := range []string{"BYMONTH", "BYMONTHDAY", "BYDAY", "COUNT", "UNTIL"} {
		if parts[key] != "" {
			every += words[key]
		}
	}
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		if known := words[key] != "" || key == "FREQ" || key == "INTERVAL" || key == "WKST"; !known {
			every += fmt.Sprintf(", %s %s", key, parts[key])
		}
	}
	return every
}

func listed(list string, word func(string) string) string {
	values := strings.Split(list, ",")
	for i := range values {
		values[i] = word(values[i])
	}
	last := len(values) - 1
	return strings.TrimPrefix(strings.Join(values[:last], ", ")+" and "+values[last], " and ")
}

// weekday returns the word for MO, or for 1MO: the first Monday.
func weekday(s string) string {
	name := weekdays[s[max(len(s)-2, 0):]]
	if n := strings.TrimLeft(s[:max(len(s)-2, 0)], "+"); name != "" && (n == "" || ordinals[n] != "") {
		return ordinals[n] + name
	}
	return s
}

func monthName(s string) string {
	if at, err := time.Parse("1", s); err == nil {
		return at.Month().String()
	}
	return s
}
