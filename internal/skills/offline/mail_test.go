package offline_test

import (
	"strings"
	"testing"
)

// TestMails checks that what a mail quotes is shown as quoted, and is the key sentence only if the writer of the
// mail says nothing about the question.
func TestMails(t *testing.T) {
	const head = "From: Ann Lis <ann@example.com>\nTo: bob@example.com\nDate: 2026-11-24 09:15 +01:00\nSubject: Re: Pump\n\n"
	reply := head + "Hello Bob,\n\nthe new price of the pump is 480 €.\n\n> On Monday Bob wrote:\n>\n> Is the price of the pump still 390 €? The delivery takes\n> 7 days.\n>\n> > The price of the pump is 390 €."
	for _, tt := range []struct {
		name, source, body, question string
		want, gone                   []string
	}{
		{"the newest text first", "m.eml", reply, "What is the price of the pump?", []string{"**the new price of the pump is 480 €.**"}, nil},
		{"only the quote says it", "m.eml", reply, "How long does the delivery take?", []string{"> Is the price of the pump still 390 €? **The delivery takes 7 days.**\n>\n> > The price"}, []string{`\>`}},
		{"the newest text, in fewer words of the question", "m.eml", head + "It is now 480 €, the price of December.\n\n> The price of the pump is 390 €.", "What is the price of the pump?", []string{"**It is now 480 €, the price of December.**"}, nil},
		{"a new text without the value", "m.eml", head + "Thank you for the question about the pump.\n\n> The price of the pump is 390 €.", "What is the price of the pump?", []string{"> **The price of the pump is 390 €.**"}, nil},
		{"the subject says nothing", "m.eml", head + "See below.\n\n> The pump is red.", "What colour is the pump?", []string{"> **The pump is red.**"}, nil},
		{"fields on lines", "m.msg", reply, "What is the price of the pump?", []string{"From: Ann Lis <ann@example.com>  \nTo: bob@example.com  \nDate: 2026-11-24 09:15 +01:00  \nSubject: Re: Pump\n\n"}, nil},
		{"a quoted table", "m.mbox", "The list of seals:\n\n> | Seal | Price |\n> | --- | --- |\n> | B-12 | 4 € |\n\nRegards", "What does the seal B-12 cost?", []string{"> | B-12 | 4 € |"}, nil},
		{"a quoted list", "m.eml", "As you asked:\n\n> - the seal costs 4 €\n> - the belt costs 9 €", "What does the seal cost?", []string{"> - **the seal costs 4 €**\n> - the belt"}, nil},
		{"not a mail", "m.md", "> The price of the pump is 390 €.\n\nThe price is new.", "What is the price of the pump?", []string{"**The price of the pump is 390 €.**"}, []string{">"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := library{page("m", tt.body), page("q", "Nothing of the kind is told here.")}
			l[0].Source = tt.source
			got := answer(t, l, task(tt.question, 0.9, l[0]))
			for _, want := range tt.want {
				if !strings.Contains(got.Text, want) {
					t.Errorf("%q is missing in:\n%s", want, got.Text)
				}
			}
			for _, gone := range tt.gone {
				if strings.Contains(got.Text, gone) {
					t.Errorf("%q is shown in:\n%s", gone, got.Text)
				}
			}
		})
	}
}

// TestMailBeforeItsQuote checks that of two mails with one sentence the one that says it is shown, not the one that
// quotes it.
func TestMailBeforeItsQuote(t *testing.T) {
	const said = "The gate opens with the code 4471."
	l := library{page("reply", "Thank you.\n\n> "+said), page("first", said+"\n\nRegards"), page("other", "Nothing of the kind is told here.")}
	l[0].Source, l[1].Source = "reply.eml", "first.eml"
	got := answer(t, l, task("What is the code of the gate?", 0.9, l[0], l[1]))
	if len(got.Citations) != 1 || got.Citations[0].Source != "first.eml" {
		t.Errorf("cited: %+v\n%s", got.Citations, got.Text)
	}
}
