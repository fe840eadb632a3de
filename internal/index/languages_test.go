package index_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// manuals are small documents on the same four topics (leave, bicycle, fire,
// parcel) in several languages; the source is language and topic.
//
//nolint:misspell // not English
var manuals = map[string]string{
	"pl/leave":   "Każdy pracownik ma prawo do dwudziestu sześciu dni urlopu w roku. Wniosek należy złożyć u kierownika co najmniej tydzień wcześniej.",
	"pl/bicycle": "Rower trzeba przypiąć do stojaka przed budynkiem. Za skradzione rowery firma nie odpowiada.",
	"pl/fire":    "W razie pożaru należy opuścić budynek schodami. Nie wolno używać windy, gdy słychać alarm.",
	"pl/parcel":  "Przesyłki odbiera się w recepcji. Paczka czeka tam przez siedem dni, potem wraca do nadawcy.",
	"de/leave":   "Jeder Mitarbeiter hat Anspruch auf dreißig Urlaubstage im Jahr. Der Antrag wird beim Vorgesetzten gestellt, und zwar eine Woche vorher.",
	"de/bicycle": "Das Fahrrad wird am Ständer vor dem Gebäude abgeschlossen. Für gestohlene Fahrräder haftet die Firma nicht.",
	"de/fire":    "Bei einem Brand ist das Gebäude über die Treppe zu verlassen. Der Aufzug darf nicht benutzt werden, wenn der Alarm ertönt.",
	"de/parcel":  "Pakete werden am Empfang abgeholt. Eine Sendung liegt dort sieben Tage und geht dann an den Absender zurück.",
	"fr/leave":   "Chaque salarié a droit à vingt-cinq jours de congé par an. La demande est déposée auprès du responsable une semaine avant.",
	"fr/bicycle": "Le vélo doit être attaché devant l'immeuble. L'entreprise n'est pas responsable des vélos volés.",
	"fr/fire":    "En cas d'incendie, quittez l'immeuble par les escaliers. Il ne faut pas prendre l'ascenseur quand l'alarme sonne.",
	"fr/parcel":  "Les colis sont retirés à l'accueil. Un colis y reste sept jours, puis il est renvoyé à l'expéditeur.",
	"es/leave":   "Cada empleado tiene derecho a veintitrés días de vacaciones al año. La solicitud se presenta al responsable una semana antes.",
	"es/bicycle": "La bicicleta se deja atada delante del edificio. La empresa no responde de las bicicletas robadas.",
	"es/fire":    "En caso de incendio hay que salir del edificio por las escaleras. No se puede usar el ascensor cuando suena la alarma.",
	"es/parcel":  "Los paquetes se recogen en la recepción. Un envío queda allí siete días y después vuelve al remitente.",
	"ru/leave":   "Каждый сотрудник имеет право на двадцать восемь дней отпуска в год. Заявление подают руководителю за неделю.",
	"ru/bicycle": "Велосипед нужно пристегнуть у стойки перед зданием. За украденные велосипеды фирма не отвечает.",
	"ru/fire":    "При пожаре покиньте здание по лестнице. Лифтом пользоваться нельзя, когда звучит тревога.",
	"ru/parcel":  "Посылки выдают на стойке у входа. Посылка лежит там семь дней, потом возвращается отправителю.",
	"it/leave":   "Ogni dipendente ha diritto a ventisei giorni di ferie all'anno. La richiesta si presenta al responsabile una settimana prima.",
	"it/bicycle": "La bicicletta va legata davanti all'edificio. La ditta non risponde delle biciclette rubate.",
	"nl/leave":   "Elke medewerker heeft recht op vijfentwintig vakantiedagen per jaar. De aanvraag wordt een week van tevoren bij de leidinggevende ingediend.",
	"nl/bicycle": "De fiets moet voor het gebouw op slot worden gezet. Voor gestolen fietsen is het bedrijf niet aansprakelijk.",
	"sv/leave":   "Varje anställd har rätt till tjugofem semesterdagar om året. Ansökan lämnas till chefen en vecka i förväg.",
	"sv/bicycle": "Cykeln ska låsas fast vid stället framför huset. För stulna cyklar ansvarar inte företaget.",
	"en/leave":   "Every employee is entitled to twenty days of leave a year. The request goes to the manager a week ahead.",
	"en/bicycle": "Lock your bicycle to the rack in front of the building. The company is not liable for stolen bicycles.",
	"en/fire":    "In case of fire leave the building by the stairs. Never use the lift while the alarm is ringing.",
	"en/parcel":  "Parcels are kept at the front desk. A parcel stays there for seven days and is then returned to its sender.",
	"vi/leave":   "Mỗi nhân viên được nghỉ phép mười hai ngày một năm. Đơn xin nghỉ gửi cho quản lý trước một tuần.",
	"vi/bicycle": "Xe đạp phải khóa vào giá trước tòa nhà. Công ty không chịu trách nhiệm về xe đạp bị mất cắp.",
	"zh/leave":   "每位员工每年有十五天年假。申请应提前一周交给主管。",
	"zh/bicycle": "自行车应锁在大楼前的车架上。公司对被盗的自行车不负责任。",
	"ja/leave":   "従業員は毎年二十日の有給休暇を取ることができます。申請は一週間前に上司へ提出してください。",
	"ja/bicycle": "自転車は建物の前の駐輪場に鍵をかけて止めてください。盗難について会社は責任を負いません。",
	"ko/leave":   "모든 직원은 매년 십오 일의 휴가를 받습니다. 신청은 일주일 전에 관리자에게 제출합니다.",
	"th/leave":   "พนักงานทุกคนมีสิทธิ์ลาพักร้อนปีละสิบวัน ต้องยื่นคำขอต่อหัวหน้าล่วงหน้าหนึ่งสัปดาห์",
	"th/bicycle": "ต้องล็อกจักรยานไว้ที่ราวหน้าอาคาร บริษัทไม่รับผิดชอบจักรยานที่ถูกขโมย",
	"ar/leave":   "يحق لكل موظف الحصول على عشرين يوما من الإجازة في السنة. يقدم الطلب إلى المدير قبل أسبوع.",
	"he/bicycle": "יש לנעול את האופניים במתקן שלפני הבניין. החברה אינה אחראית לאופניים שנגנבו.",
	"hi/leave":   "हर कर्मचारी को साल में बीस दिन की छुट्टी मिलती है। आवेदन एक सप्ताह पहले प्रबंधक को देना होता है।",
	"el/bicycle": "Το ποδήλατο κλειδώνεται μπροστά από το κτίριο. Η εταιρεία δεν ευθύνεται για κλεμμένα ποδήλατα.",
}

// TestSpeaks checks the languages of documents.
func TestSpeaks(t *testing.T) {
	db := open(t, "", index.Options{})
	put(t, db, "german", file("leave", "", manuals["de/leave"]), file("fire", "", manuals["de/fire"]))
	put(t, db, "both", file("leave", "", manuals["de/leave"]), file("fire", "", manuals["en/fire"]))
	for root, want := range map[string]string{"german": "de", "both": "de en vi"} {
		s, err := db.Searcher(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, lang := range []string{"de", "en", "pl", "vi"} {
			if s.Speaks(lang) {
				got = append(got, lang)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", root, got, want)
		}
	}
}

// TestLanguages: in one collection of many languages a question of a word or
// several finds the page by other forms of its words than the page has.
func TestLanguages(t *testing.T) {
	db := open(t, "", index.Options{})
	var entries []search.Entry
	for source, text := range manuals {
		entries = append(entries, file(source, "", text))
	}
	put(t, db, "manuals", entries...)
	s := searcher(t, db, "manuals")
	for _, tt := range []struct{ name, query, want string }{
		{"pl question", "Ile dni urlopów przysługuje pracownikom?", "pl/leave"},
		{"pl two words", "kradzież roweru", "pl/bicycle"},
		{"pl one word", "pożary", "pl/fire"},
		{"pl one word of another case", "paczkami", "pl/parcel"},
		{"pl without diacritics", "przesylek", "pl/parcel"},
		{"pl dictionary form", "wniosek kierownik", "pl/leave"},
		{"de question", "Wie viele Urlaubstage stehen einem Mitarbeiter zu?", "de/leave"},
		{"de one word", "Paket", "de/parcel"},
		{"de two words", "Fahrrad gestohlen", "de/bicycle"},
		{"de other form", "Gebäudes Brände", "de/fire"},
		{"fr question", "Combien de jours de congés pour un salarié ?", "fr/leave"},
		{"fr elided", "ascenseurs", "fr/fire"},
		{"fr without accents", "velo vole", "fr/bicycle"},
		{"es question", "¿Cuántos días de vacaciones tiene un empleado?", "es/leave"},
		{"es one word", "incendios", "es/fire"},
		{"es two words", "paquete remitentes", "es/parcel"},
		{"ru question", "Сколько дней отпуска у сотрудников?", "ru/leave"},
		{"ru one word", "велосипеда", "ru/bicycle"},
		{"ru two words", "пожары лестница", "ru/fire"},
		{"it one word", "dipendenti", "it/leave"},
		{"nl two words", "gestolen fiets", "nl/bicycle"},
		{"sv one word", "cykel", "sv/bicycle"},
		{"en question", "How many days of leave do employees have?", "en/leave"},
		{"en one word", "parcel", "en/parcel"},
		{"vi question", "Nhân viên được nghỉ phép bao nhiêu ngày?", "vi/leave"},
		{"vi without diacritics", "xe dap bi mat cap", "vi/bicycle"},
		{"zh word", "年假", "zh/leave"},
		{"zh question", "自行车被盗谁负责？", "zh/bicycle"},
		{"ja word", "有給休暇", "ja/leave"},
		{"ja question", "自転車の盗難は誰の責任ですか", "ja/bicycle"},
		{"ko without particle", "직원 휴가", "ko/leave"},
		{"zh one ideograph", "锁", "zh/bicycle"},
		{"ko one syllable of a word", "휴", "ko/leave"},
		{"th word", "จักรยาน", "th/bicycle"},
		{"th question", "ลาพักร้อนได้กี่วัน", "th/leave"},
		{"ar with vowel signs and article", "إجازة المُوَظَّف", "ar/leave"},
		{"he with points", "הָאוֹפַנַּיִים", "he/bicycle"},
		{"hi without nukta", "छुट्टी कर्मचारी", "hi/leave"},
		{"el other accents", "ποδηλατο", "el/bicycle"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hits, err := s.Search(t.Context(), state.Query{Text: tt.query}, 3)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, h := range hits {
				source, _, _ := strings.Cut(h.Chunk, "#")
				got = append(got, fmt.Sprintf("%s %.2f", source, h.Score))
			}
			if len(got) == 0 || !strings.HasPrefix(got[0], tt.want+" ") {
				t.Errorf("%q finds %q, want %s first", tt.query, got, tt.want)
			}
		})
	}
}

// TestLanguageOfSearcherAnalyzer: what compares words of a question with those
// of a sentence gets the same terms for both, however short they are.
func TestLanguageOfSearcherAnalyzer(t *testing.T) {
	db := open(t, "", index.Options{})
	put(t, db, "manuals", file("pl", "", manuals["pl/leave"], manuals["pl/parcel"]), file("en", "", manuals["en/leave"], manuals["en/parcel"]))
	a := searcher(t, db, "manuals").Analyzer()
	for _, pair := range [][2]string{{"urlopy", "urlopu"}, {"Paczki?", "Paczkę."}, {"employees", "employee"}, {"parcels", "a parcel"}} {
		one, two := a.Analyze(pair[0]), a.Analyze(pair[1])
		if len(one) != 1 || len(two) != 1 || one[0].Term != two[0].Term {
			t.Errorf("terms of %q are %v, of %q %v", pair[0], one, pair[1], two)
		}
	}
}

// TestRespelled: a word that no chunk holds finds those that are spelled almost
// like it, below what has the word itself; known words are left as they are.
func TestRespelled(t *testing.T) {
	db := open(t, "", index.Options{})
	put(t, db, "docs", file("backup", "", "Restore the container from its backup."), file("garden", "", "Water the flowers in the garden. Bring a passport."),
		file("approach", "", "A naïve approach."), file("pl", "", "Każdy użytkownik ma swoje hasło, które można zmienić w ustawieniach."))
	s := searcher(t, db, "docs")
	for _, tt := range []struct{ name, query, terms, first string }{
		{"swapped", "contaienr", "contain", "backup"},
		{"left out", "gardn", "garden", "garden"},
		{"two edits of a long word", "pasporrt", "passport", "garden"},
		{"two edits of a short word", "gadrne", "", ""},
		{"diacritics", "naive", "naïv", "approach"},
		{"another language", "użytkowniik", "uzytkownik", "pl"},
		{"another first letter", "pontainer", "", ""},
		{"short", "watr", "", ""},
		{"known", "container", "", "backup"},
		{"name", "GARDN", "", ""},
		{"number", "gardn2", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var terms []string
			for _, r := range s.Respelled(tt.query) {
				for _, term := range r.Terms {
					terms = append(terms, term.Term)
				}
			}
			if got := strings.Join(terms, " "); got != tt.terms {
				t.Errorf("searched also for %q, want %q", got, tt.terms)
			}
			hits, err := s.Search(t.Context(), state.Query{Text: tt.query}, 5)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if len(hits) > 0 {
				got, _, _ = strings.Cut(hits[0].Chunk, "#")
			}
			if got != tt.first {
				t.Errorf("found %q first, want %q", got, tt.first)
			}
		})
	}
}
