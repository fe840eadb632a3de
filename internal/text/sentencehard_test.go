package text_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSentencesHard is a table of what splitters get wrong: each row is one
// text, its sentences parted by " | ".
func TestSentencesHard(t *testing.T) {
	for _, tt := range []struct {
		language string
		rows     []string
	}{
		{"en", []string{
			"The meter (see Sec. 4.2) reads 3.14 V. | Reset it.",
			"We met Dr. A. B. Hill at 5 p.m. on Monday. | He was late.",
			"It opens at 9 a.m. and shuts at 6 p.m. | Nobody stays.",
			"Acme Inc. owns it. | Acme Ltd. does not.",
			"“Stop it.” | She left. | “Why?” | Nobody knew.",
			"'It works.' | He smiled.",
			"He said “Go!” and left.",
			"Wait … then press the key. | Done.",
			"It ran... and ran. | Then it fell.",
			"See RFC 9110, sec. 8.8.3. | It defines tags.",
			"The limit is 1,500.75 USD. | Pay early.",
			"Set `a.b = 1. B = 2.` in the file. | Restart.",
			"Call f(x). | Then g(y)!",
			"Open https://example.com/a.html?x=1. | Then log in.",
			"Mail ops@example.com. | They answer.",
			"The file .env. | It is hidden.",
			"It is 5 ft. 3 in. tall. | It fits.",
			"The U.K. and the U.S. agreed. | The E.U. did not.",
			"Version 2.0. | Released in May.",
			"Ph.D. students ask most. | Others read.",
			"Plug it in (the red one first). | (Then wait.) | Turn it on.",
			"Really?! | Yes!!! | No.",
			"Use Node.js. | It is fast. | Use .NET. | It is not.",
			"Smith et al. say otherwise. | We do not.",
			"Jones vs. Smith, No. 12 of 1998, decided it. | It stands.",
			"Jones v. Smith was decided in 1998. | It stands.",
			"Fig. 3 shows it. | Figs. 4 and 5 do not. | Eq. (7) holds.",
			"Tab. 2 lists all. | Table 2. Sizes of tanks.",
			"In approx. 20 min. the oven is hot. | Bake.",
			"J.R.R. Tolkien wrote it. | T. S. Eliot did not.",
			"The tank is full (Section 2.2). | It holds.",
			"The pump runs. [3] | It hums. [1, 4–6] | So it is. | (In 2020 it was.) | [The manual](a.md) says so.",
			"Bring it to the table. | 1. Open it. | 2. Eat.",
			"I am 3. | Mary is 5. | That is all (3). | Yes.",
			"Gov. Lee and Sen. Park spoke. | Col. Ray slept.",
		}},
		{"pl", []string{
			"Spotkanie jest 3. maja o godz. 15.30. | Proszę być.",
			"Firma zarabia ok. 2,5 mln zł. | To dużo.",
			"Ustawa z dn. 5 maja 2020 r. o wodach (Dz. U. poz. 12). | Weszła w życie.",
			"W 2020 r. było inaczej. | W XIX w. też.",
			"Mieszka przy ul. Polnej 3 lok. 5. | Dojazd jest łatwy.",
			"Prof. dr hab. Jan Nowak i inż. A. Lis mówili. | Sala słuchała.",
			"To kosztuje 24.000 zł. | Drogo!",
			"„Idź już.” | Wyszedł.",
			"Zob. rozdz. 3, rys. 2 i tab. 4. | Tam jest wykres.",
			"Dotyczy to m.in. wody, prądu itd. | Gazu nie.",
			"Pkt 2 lit. a ustawy mówi co innego. | Tak jest.",
			"Odległość wynosi 5 km. | Idziemy pieszo.",
			"Śp. Anna Lis oraz św. Jan. | Koniec.",
			"Była godz. 8. | Padało.",
			"To jest 1. wydanie. | Drugie będzie w maju.",
		}},
		{"vi", []string{
			"Giá là 24.000 đồng. | Rẻ quá!",
			"Theo TS. Nguyễn Văn A. thì đúng. | Ông ấy nói vậy.",
			"TP. Hồ Chí Minh có 9 triệu dân. | Hà Nội ít hơn.",
			"Xem Điều 5 Khoản 2. | Luật nói rõ.",
			"Điều 7. Quyền của người thuê.",
			"Ông đi lúc 8 giờ 30. | Bà ở lại.",
			"Tổng cộng 1.234.567,89 đồng. | Đã trả.",
			"Nghị định số 123/2020/NĐ-CP ngày 19.10.2020. | Có hiệu lực.",
			"“Đi thôi.” | Họ đi.",
			"P. 5, Q. 3 là nơi tôi ở. | Gần chợ.",
			"ThS. Lê Thị B. dạy toán. | Lớp đông.",
			"Có bút, vở, v.v. | Hết.",
		}},
		{"de", []string{
			"Am 3. Mai beginnt es. | Komm pünktlich.",
			"Es kostet 24.000 Euro. | Teuer!",
			"Das gilt z. B. für Holz, d. h. für Bretter. | Stein nicht.",
			"Dr. med. K. Braun und Prof. Lang kamen. | Beide gingen früh.",
			"Siehe Abb. 3, Tab. 2 und S. 17 ff. | Dort steht es.",
			"Nach § 5 Abs. 2 Nr. 3 BGB. | So ist es.",
			"Im 19. Jahrhundert war das anders. | Heute nicht.",
			"Der 2. Versuch gelang. | Der 3. auch.",
			"„Geh!“, rief er. | „Nein.“ | Sie blieb.",
			"Das sind ca. 5 km bzw. 1 Std. zu Fuß. | Los.",
			"Kaiser Karl V. regierte lange. | Dann nicht mehr.",
			"Bäcker, Metzger usw. | Alle kamen.",
			"Die Fa. Meier GmbH zahlt. | Immer.",
			"Es war 1999. | Dann kam 2000.",
			"Frau Dr. Weiß wohnt in der Hauptstr. 5. | Sie ist Ärztin.",
			"Inkl. Steuer zzgl. Versand. | Fertig.",
		}},
		{"fr", []string{
			"M. Dupont et Mme. Leroy sont là. | Mlle. Petit non.",
			"Cela coûte 24,50 €. | C'est cher !",
			"« Partez. » | Il partit.",
			"Est-ce vrai ? | Oui !",
			"Voir p. 5, art. 3, al. 2. | Tout y est.",
			"Le Dr. Blanc et le Pr. Noir parlent. | On écoute.",
			"Env. 20 p. par chapitre, etc. | Fini.",
			"Le n. 5 gagne. | L'av. J. Rey perd.",
			"Il est né le 1er janv. 1990 à Lyon. | Il y vit.",
			"J.-C. Martin arrive. | Il sourit.",
		}},
		{"es", []string{
			"El Sr. Gómez y la Dra. Ruiz hablan. | Nadie oye.",
			"¿Vienes? | ¡Sí! | Voy.",
			"Cuesta 24.000 pesos. | Es caro.",
			"Véase la pág. 5, cap. 2, fig. 3. | Ahí está.",
			"Vive en Avda. Sol, núm. 4. | Está cerca.",
			"«Vete.» | Se fue.",
			"Hay p. ej. pan y vino. | Falta sal.",
			"EE. UU. firmó. | México no.",
			"El 3 de mayo de 2020. | Llovía.",
			"Ud. y Uds. son formas. | Tú también.",
		}},
		{"zh", []string{
			"它在三点半停止。|它重新开始！|好吗？|好。",
			"他说：“走吧。”|她走了。",
			"价格是24.5元。|很贵！",
			"（见第2节。）|然后重启。",
			"等等……好了。|走吧。",
			"请访问 https://example.com/a.b。|谢谢。",
			"版本3.2发布了；性能更好。|下载吧。",
		}},
		{"ja", []string{
			"「行こう。」|彼は行った。",
			"価格は24.5円です。|高いですね！",
			"本当？！|はい。",
			"彼は「はい。」と答えた。|終わり。",
		}},
	} {
		for _, row := range tt.rows {
			sep := " | "
			joint := " "
			if tt.language == "zh" || tt.language == "ja" {
				sep, joint = "|", ""
			}
			want := strings.Split(row, sep)
			if d := cmp.Diff(want, sentences(strings.Join(want, joint))); d != "" {
				t.Errorf("%s: (-want +got)\n%s", tt.language, d)
			}
		}
	}
}
