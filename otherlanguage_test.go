package ragflow_test

import (
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow"
)

// TestOtherLanguageIsSaidWhereItIsSo asks in the language of the documents, and in another one.
func TestOtherLanguageIsSaidWhereItIsSo(t *testing.T) {
	german := map[string]string{
		"auftraege.csv": "Auftrag;Artikel;Menge;Liefertermin\n4711;Sechskantschrauben;400;2027-03-01\n4712;Flügelmuttern;120;2027-04-15\n",
		"lager.md":      "# Lager\n\nDie Regale im Keller sind für Schrauben. Das Tor ist ab sieben Uhr offen, und der Stapler steht links.\n",
	}
	gate := map[string]string{"lager.md": german["lager.md"]}
	orders := map[string]string{"auftraege.md": "# Aufträge\n\nDie Aufträge sind nach dem Tag sortiert, und der Liefertermin ist nicht sicher.\n\n" +
		"| Auftrag | Artikel | Liefertermin |\n| --- | --- | --- |\n| 4711 | Sechskantschrauben | 2027-03-01 |\n| 4712 | Flügelmuttern | 2027-04-15 |\n"}
	table := map[string]string{"towary.csv": "Numer;Towar;Sztuk\n17;imadło;400\n18;klucz;120\n"}
	english := map[string]string{
		"boat.md": "# Boat\n\nThe boat leaves at nine.", "key.md": "# Key\n\nBlue hook, behind the door.", "tea.md": "# Tea\n\nGreen: 4 €, black: 3 €.",
		"bus.md": "# Bus\n\nLine 7, every hour.", "cook.md": "# Cook\n\nMs Trần Thị Hương, room 4.", "menu.md": "# Menu\n\nCrème brûlée, 5 €.",
		"staff.md": "# Staff\n\nThe guard is Mr Phạm Văn Đức and the guide is Mr Nguyễn Hữu Thọ.", "wifi.md": "# Wi-Fi\n\nGuest, password mirabelle.",
		"noi-quy.md": "# Nội quy\n\nKhách không được hút thuốc trong phòng. Giờ yên tĩnh bắt đầu từ mười giờ đêm.",
	}
	manual := map[string]string{"boat.md": "# Boat\n\nThe boat leaves at nine, and people need a ticket from the first day of the year. You can ask for it at the desk."}
	for _, tt := range []struct {
		docs     map[string]string
		question string
		want     bool
	}{
		{german, "Liefertermin Sechskantschrauben?", false},
		{german, "Liefertermin Auftrag 4712?", false},
		{german, "Wann ist das Tor offen?", false},
		{gate, "Schrauben Keller?", false},
		{gate, "Stapler Tor", false},
		{orders, "Liefertermin Flügelmuttern?", false},
		{german, "Gewährleistung Presslufthammer?", false}, // nothing is found
		{gate, "When does the gate open, and is it on the left?", true},
		{table, "Ile jest kluczy i gdzie jest imadło?", false},
		{table, "Kiedy można odwiedzić muzeum?", false}, // nothing is found
		{english, "Who is the guard of the house?", false},
		{english, "Who is the cook?", false},
		{english, "What is the price of the crème brûlée?", false},
		{english, "When does the boat leave?", false},
		{english, "What is the noise rule of nội quy?", false},
		{manual, "Czy pies może być w pokoju z panem Phạm Văn Đức?", true},
		{manual, "Gdzie jest Boat, kiedy nie odpływa?", true},
		{manual, "Thuyền của khách ở đâu khi không chạy? Boat?", true},
	} {
		dir := t.TempDir()
		for name, body := range tt.docs {
			write(t, filepath.Join(dir, name), body)
		}
		a := open(t, ragflow.Config{DataDir: t.TempDir(), Docs: []string{dir}})
		r, err := a.Ask(t.Context(), ragflow.Question{Text: tt.question})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Contains(r.Answer, "another language") || strings.Contains(r.Answer, "w innym języku") || strings.Contains(r.Answer, "ngôn ngữ khác")
		if got != tt.want {
			t.Errorf("%s: said %v in:\n%s", tt.question, got, r.Answer)
		}
	}
}
