package offline

import "testing"

func TestLongForms(t *testing.T) {
	for _, tt := range []struct {
		question, text string
		short          string
		spelled        bool
	}{
		{"What does DPIA stand for?", "We write a data protection impact assessment (DPIA) before each launch.", "DPIA", true},
		{"What does the abbreviation MFA mean?", "MFA (multi-factor authentication) is needed for mail.", "MFA", true},
		{"Wofür steht AGB?", "Es gelten die Allgemeinen Geschäftsbedingungen (AGB).", "AGB", true},
		{"Co oznacza skrót BHP?", "Zasady bezpieczeństwa i higieny pracy (BHP) wiszą na ścianie.", "BHP", true},
		{"HĐQT là viết tắt của từ gì?", "Hội đồng quản trị (HĐQT) họp mỗi quý.", "HĐQT", true},
		{"What does DPIA stand for?", "The form (DPIA) is on the intranet.", "DPIA", false},
		{"What does DPIA stand for?", "A DPIA is due in May.", "DPIA", false},
		{"What does this mean?", "this (that)", "", false},
		{"What does the pump do?", "", "", false},
	} {
		short := abbreviationAsked(tt.question)
		if short != tt.short {
			t.Errorf("%s asks for %q, want %q", tt.question, short, tt.short)
		}
		if short != "" && spellsOut(tt.text, short) != tt.spelled {
			t.Errorf("%q spells %s out: %v", tt.text, short, !tt.spelled)
		}
	}
}

func TestKindsOfValues(t *testing.T) {
	for _, tt := range []struct{ question, with, without string }{
		{"When does the pool open?", "It opens in May.", "It opens for all."},
		{"Wann ist die nächste Sitzung?", "Sie ist am Dienstag.", "Sie ist im Keller."},
		{"Kiedy zaczyna się kurs?", "Zaczyna się w środę.", "Zaczyna się w szkole."},
		{"Khi nào họp?", "Họp vào thứ hai.", "Họp ở phòng lớn."},
		{"What does the ferry cost?", "A ticket is 12 €.", "Tickets are sold on board."},
		{"Ile kosztuje nocleg?", "Nocleg: 80 zł.", "Nocleg jest tani."},
		{"How many chairs are there?", "There are twelve chairs.", "There are chairs."},
		{"What is the phone number of the office?", "Call +49 555 0199.", "Call us in 2026."},
		{"To which e-mail address do I write?", "Write to info@ferry.example.", "Write to the office."},
		{"At what time does the shop close?", "It closes at 6 pm.", "It closes in winter."},
		{"Um wie viel Uhr schließt der Laden?", "Um 18 Uhr.", "Am Abend."},
	} {
		if got := lacks(tt.with, tt.question); got != "" {
			t.Errorf("%s: %q lacks a %s", tt.question, tt.with, got)
		}
		if lacks(tt.without, tt.question) == "" {
			t.Errorf("%s: %q lacks nothing", tt.question, tt.without)
		}
	}
	if got := lacks("The gate is red.", "Which colour is the gate?"); got != "" {
		t.Errorf("a colour is a %s", got)
	}
}
