package offline

import "testing"

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
		{"handy von ann lis", "Mobil: 0171 555 0122", "Telefon: 0351 555 0122"},
		{"jaki jest numer komórki ani?", "kom. 600 555 012", "tel. 22 555 01 21"},
		{"numer telefonu komórkowego ani", "Phone (mobile): 600 555 012", "Phone (work): 22 555 01 21"},
		{"số di động của chị Lan", "Di động: 090 555 0121", "Điện thoại: 024 555 0121"},
		{"When was it paid?", "Paid on the 5th.", "Paid: 1,085.90 EUR."},
		{"When was it paid?", "Paid 31/03.", "Paid: 5.60 EUR."},
		{"When does it open?", "At 9:30.", "With 2 keys."},
		{"Wann ist der Termin?", "Am 16.04. im Saal.", "In Saal 16."},
		{"Kiedy oddać klucz?", "W ciągu 3 dni.", "Klucz nr 3."},
		{"To which e-mail address do I write?", "Write to info@ferry.example.", "Write to the office."},
		{"At what time does the shop close?", "It closes at 6 pm.", "It closes in winter."},
		{"Um wie viel Uhr schließt der Laden?", "Um 18 Uhr.", "Am Abend."},
	} {
		kind := kindAsked(tt.question)
		if !kind.value.MatchString(tt.with) {
			t.Errorf("%s: %q lacks a %s", tt.question, tt.with, kind.name)
		}
		if kind.value.MatchString(tt.without) {
			t.Errorf("%s: %q has a %s", tt.question, tt.without, kind.name)
		}
	}
	if kind := kindAsked("Which colour is the gate?"); kind != nil {
		t.Errorf("a colour is a %s", kind.name)
	}
}
