package load_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/ragflow/internal/load"
)

// TestDamagedCalendars checks that a damaged calendar or list of contacts says in a line what is wrong, and is read
// as far as possible.
func TestDamagedCalendars(t *testing.T) {
	const event, card = "BEGIN:VEVENT\nSUMMARY:Review\n", "BEGIN:VCARD\nFN:Ann\n"
	for _, tt := range []struct {
		name, source, data string
		is                 error
		want               string // of the error, the warnings or the text
	}{
		{"no calendar", "a.ics", "Some text.\n", load.ErrBroken, "it holds no entry"},
		{"a calendar that is cut off", "a.ics", event, nil, "the last entry is cut off"},
		{"an event without its end", "a.ics", event + event + "END:VEVENT\n", nil, "line 3: an entry begins before the end of the one above"},
		{"a date that is none", "a.ics", event + "DTSTART:soon\nEND:VEVENT\n", nil, "When: soon"},
		{"no contacts", "a.vcf", "Some text.\n", load.ErrBroken, "it holds no entry"},
		{"contacts that are cut off", "a.vcf", card, nil, "the last entry is cut off"},
		{"a contact without its end", "a.vcf", card + card + "END:VCARD\n", nil, "line 3: an entry begins before the end of the one above"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := load.Parse(t.Context(), tt.source, []byte(tt.data))
			if !errors.Is(err, tt.is) {
				t.Fatal(err)
			}
			if got := fmt.Sprint(err, doc.Warnings, doc.Text); !strings.Contains(got, tt.want) {
				t.Errorf("%q is missing in %q", tt.want, got)
			}
		})
	}
}

// TestRecurrence checks rules of recurrence, periods and time zones of calendars in words.
func TestRecurrence(t *testing.T) {
	for lines, want := range map[string]string{
		"RRULE:FREQ=DAILY":                                                               "Repeats: every day",
		"RRULE:FREQ=WEEKLY;BYDAY=MO,WE,FR;WKST=MO":                                       "Repeats: every week on Monday, Wednesday and Friday",
		"RRULE:FREQ=MONTHLY;BYDAY=-1FR;COUNT=3":                                          "Repeats: every month on the last Friday, 3 times",
		"RRULE:FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=1,15":                                  "Repeats: every 3 months on day 1 and 15",
		"RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU;UNTIL=20301231":                           "Repeats: every year in March on the second Sunday, until 2030-12-31",
		"RRULE:FREQ=MONTHLY;BYDAY=MO;BYSETPOS=2":                                         "Repeats: every month on Monday, BYSETPOS 2",
		"RRULE:FREQ=OFTEN":                                                               "Repeats: FREQ=OFTEN",
		"RRULE:FREQ=MONTHLY;BYDAY=7MO,X":                                                 "Repeats: every month on 7MO and X",
		"DTSTART:20261124T090000Z\nDTEND:20261124T103000Z":                               "When: Tue 2026-11-24 09:00 to 10:30 UTC",
		"DTSTART;TZID=Asia/Tokyo:20261124T090000\nDTEND;TZID=Asia/Tokyo:20261125T090000": "When: Tue 2026-11-24 09:00 Asia/Tokyo to Wed 2026-11-25 09:00 Asia/Tokyo",
		"DTSTART;VALUE=DATE:20261124\nDTEND:20261124T103000":                             "When: Tue 2026-11-24 to Tue 2026-11-24 10:30",
		"DTSTART:20261124T090000\nDTEND:20261124T103000":                                 "When: Tue 2026-11-24 09:00 to 10:30",
		"DTSTART:20261124T090000\nDURATION:P2D":                                          "When: Tue 2026-11-24 09:00 for 2d",
		"DTSTART;VALUE=DATE:20261124\nDTEND;VALUE=DATE:20261125":                         "When: Tue 2026-11-24",
	} {
		doc, err := load.Parse(t.Context(), "a.ics", []byte("BEGIN:VEVENT\r\nSUMMARY:Review\r\n"+strings.ReplaceAll(lines, "\n", "\r\n")+"\r\nEND:VEVENT\r\n"))
		if want = "Event: Review; " + want + "\n"; err != nil || doc.Text != want {
			t.Errorf("%q = %q, %v, want %q", lines, doc.Text, err, want)
		}
	}
}
