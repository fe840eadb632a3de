package offline_test

import (
	"strings"
	"testing"
)

// TestMinutes asks notes of meetings and chats who has to do what, what was decided and
// what somebody said.
func TestMinutes(t *testing.T) {
	kickoff := page("kickoff", "Kickoff", "Present: Anna, Peter, Maria\n\nPeter found an offer. Maria will ask the printer for a price.\n\n## Decisions\n\n- We go with the green design.\n\n"+
		"## Action items\n\n- [ ] Peter: call the bank about the account\n- [x] Anna: measure the shop\n\nTODO(peter): renew the domain\n@maria please translate the page\n")
	protocol := page("protokoll", "Protokoll", "Anwesend: Frau Krause, Herr Vogel\n\nBeschluss: Das Dach wird im Herbst erneuert.\n\nAufgabe: Herr Vogel holt drei Angebote ein.\nAufgabe: Frau Krause kündigt den Vertrag.\n")
	polish := page("zebranie", "Zebranie", "Obecni: Jan, Ewa\n\nDecyzja: Malujemy klatkę na biało.\nZadanie: Ewa zamówi farbę do piątku.\nZadanie: Jan sprawdzi piwnicę.\n")
	vietnamese := page("hop", "Biên bản", "Có mặt: Lan, Minh\n\nQuyết định: Nhóm chuyển văn phòng vào tháng 7.\nNhiệm vụ: Lan liên hệ công ty vận chuyển.\n")
	chat := page("chat", "chat", "[10:02] Anna: the logo is too small on phones\n[10:03] Ben: ok. I bought a cake\n[10:05] Anna: the budget is 3,400 euros, see example.org\n[10:06] Ben: I like the logo as it is")
	chat.Source = "chat.txt"
	l := library{kickoff, protocol, polish, vietnamese, chat}
	for _, tt := range []struct {
		question  string
		from      int
		want, not []string
	}{
		{"What is Peter supposed to do?", 0, []string{"- [ ] Peter: call the bank about the account [Source 1]", "- TODO(peter): renew the domain [Source 1]"}, []string{"found an offer", "translate", "Present"}},
		{"What does Maria have to do?", 0, []string{"- Maria will ask the printer for a price. [Source 1]", "- @maria please translate the page [Source 1]"}, []string{"Peter"}},
		{"What are the action items?", 0, []string{"Peter: call", "[x] Anna", "TODO", "@maria"}, []string{"green", "Present"}},
		{"What is left to do?", 0, []string{"Peter: call"}, []string{"Anna"}},
		{"Who has to call the bank?", 0, []string{"Peter: call the bank"}, []string{"Anna", "TODO"}},
		{"What did we decide?", 0, []string{"We go with the green design."}, []string{"bank"}},
		{"What did we decide about the roof?", 0, []string{"I did not find"}, []string{"green"}},
		{"Was ist die Aufgabe von Herrn Vogel?", 1, []string{"Herr Vogel holt drei Angebote ein."}, []string{"Krause", "Dach"}},
		{"Welche Beschlüsse wurden gefasst?", 1, []string{"Das Dach wird im Herbst erneuert."}, []string{"Aufgabe"}},
		{"Co ma zrobić Ewa?", 2, []string{"Ewa zamówi farbę do piątku."}, []string{"Jan", "Obecni"}},
		{"Jaką decyzję podjęto?", 2, []string{"Malujemy klatkę na biało."}, []string{"Zadanie"}},
		{"Nhiệm vụ của Lan là gì?", 3, []string{"Lan liên hệ công ty vận chuyển."}, []string{"Có mặt", "Quyết định"}},
		{"What did Anna say about the logo?", 4, []string{"- [10:02] Anna: the logo is too small on phones [Source 1]"}, []string{"Ben", "budget"}},
		{"What did Ben say?", 4, []string{"ok. I bought a cake", "I like the logo"}, []string{"Anna"}},
		{"What did Clara say about the logo?", 4, []string{"I did not find"}, []string{"- ["}},
	} {
		t.Run(tt.question, func(t *testing.T) {
			checkWords(t, answer(t, l, task(tt.question, 0.3, l[tt.from])).Text, tt.want, tt.not)
		})
	}
}

// TestCutLists tells of steps that there was no room for.
func TestCutLists(t *testing.T) {
	steps := strings.Repeat("1. Fold the dough of the bread once more.\n", 15)
	bread := page("bread", "Bread", "## Bake bread\n\nYou need flour.\n\n"+steps)
	got := answer(t, library{bread}, task("How do I bake bread?", 0.9, bread))
	checkWords(t, got.Text, []string{"12. Fold", "… and 3 more [Source 1]"}, []string{"13. "})
	few := page("few", "Bread", "## Bake bread\n\nYou need flour.\n\n1. Mix it.\n2. Bake it.\n3. Eat it.\n")
	checkWords(t, answer(t, library{few}, task("How do I bake bread?", 0.9, few)).Text, []string{"3. Eat it."}, []string{"more"})
}
