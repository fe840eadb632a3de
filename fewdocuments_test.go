package ragflow_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/ragflow"
)

// TestFewDocuments asks of one page, two and five: what a new user tries first.
// So few chunks tell nothing about how rare a word is.
func TestFewDocuments(t *testing.T) {
	texts := map[string][]string{
		"en": {
			"# Volumes\n\nA volume keeps the data of a container after the container is removed. Create one with `docker volume create`.\n\nTo back up a volume, run a container that mounts it and writes an archive with tar.\n",
			"# Bees\n\nA colony needs about fifteen kilograms of honey to get through the winter.\n",
			"# Bread\n\nBake the loaf at 230 degrees for forty minutes.\n",
			"# Office\n\nThe office opens at eight. Visitors report to Anna Nowak on the second floor.\n",
			"# Tax\n\nReceipts are kept for ten years.\n",
		},
		"pl": {
			"# Urlop\n\nWniosek o urlop składa się u kierownika co najmniej dwa tygodnie wcześniej.\n",
			"# Parking\n\nNa parkingu obowiązuje opłata pięciu złotych za godzinę.\n",
			"# Biblioteka\n\nKsiążki wypożycza się na trzydzieści dni.\n",
			"# Kuchnia\n\nZmywarkę włącza osoba, która wychodzi ostatnia.\n",
			"# Klucze\n\nZapasowe klucze są w sejfie na parterze.\n",
		},
		"vi": {
			"# Nghỉ phép\n\nNhân viên nộp đơn nghỉ phép cho quản lý trước hai tuần.\n",
			"# Bãi đỗ xe\n\nPhí đỗ xe là năm nghìn đồng một giờ.\n",
			"# Thư viện\n\nSách được mượn trong ba mươi ngày.\n",
			"# Nhà bếp\n\nNgười về cuối cùng bật máy rửa bát.\n",
			"# Chìa khóa\n\nChìa khóa dự phòng ở trong két sắt tầng một.\n",
		},
	}
	assistants := map[string]map[int]*ragflow.Assistant{}
	for language, all := range texts {
		assistants[language] = map[int]*ragflow.Assistant{}
		for _, n := range []int{1, 2, 5} {
			files := map[string]string{}
			for i, text := range all[:n] {
				files[fmt.Sprintf("%d.md", i)] = text
			}
			assistants[language][n] = open(t, ragflow.Config{Docs: pages(t, files)})
		}
	}
	for _, tt := range []struct {
		language, question string
		declined           bool
	}{
		{"en", "How do I create a volume?", false},
		{"en", "How do I back up a volume?", false},
		{"en", "What keeps the data of a container?", false},
		{"en", "Who won the football world cup?", true},
		{"en", "What is the capital of Australia?", true},
		{"pl", "U kogo składa się wniosek o urlop?", false},
		{"pl", "Kto wygrał mistrzostwa świata w piłce nożnej?", true},
		{"vi", "Nộp đơn nghỉ phép cho ai?", false},
		{"vi", "Đơn nghỉ phép phải nộp trước bao lâu?", false},
		{"vi", "Thủ đô của nước Úc là gì?", true},
	} {
		for _, n := range []int{1, 2, 5} {
			t.Run(fmt.Sprintf("%s of %d", tt.question, n), func(t *testing.T) {
				r := ask(t, assistants[tt.language][n], "", tt.question)
				if r.Abstained != tt.declined {
					t.Errorf("declined %v at %.2f, want %v:\n%s", r.Abstained, r.Grade.Score, tt.declined, r.Answer)
				}
			})
		}
	}
}

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
	assistants := map[string]*ragflow.Assistant{}
	for name, docs := range map[string]map[string]string{"german": german, "gate": gate, "orders": orders, "table": table, "english": english, "manual": manual} {
		assistants[name] = open(t, ragflow.Config{Docs: pages(t, docs)})
	}
	for _, tt := range []struct {
		docs, question string
		want           bool
	}{
		{"german", "Liefertermin Sechskantschrauben?", false},
		{"german", "Liefertermin Auftrag 4712?", false},
		{"german", "Wann ist das Tor offen?", false},
		{"gate", "Schrauben Keller?", false},
		{"gate", "Stapler Tor", false},
		{"orders", "Liefertermin Flügelmuttern?", false},
		{"german", "Gewährleistung Presslufthammer?", false}, // nothing is found
		{"gate", "When does the gate open, and is it on the left?", true},
		{"table", "Ile jest kluczy i gdzie jest imadło?", false},
		{"table", "Kiedy można odwiedzić muzeum?", false}, // nothing is found
		{"english", "Who is the guard of the house?", false},
		{"english", "Who is the cook?", false},
		{"english", "What is the price of the crème brûlée?", false},
		{"english", "When does the boat leave?", false},
		{"english", "What is the noise rule of nội quy?", false},
		{"manual", "Czy pies może być w pokoju z panem Phạm Văn Đức?", true},
		{"manual", "Gdzie jest Boat, kiedy nie odpływa?", true},
		{"manual", "Thuyền của khách ở đâu khi không chạy? Boat?", true},
	} {
		r := ask(t, assistants[tt.docs], "", tt.question)
		got := strings.Contains(r.Answer, "another language") || strings.Contains(r.Answer, "w innym języku") || strings.Contains(r.Answer, "ngôn ngữ khác")
		if got != tt.want {
			t.Errorf("%s: said %v in:\n%s", tt.question, got, r.Answer)
		}
	}
}
