package offline

import (
	"strings"
	"unicode"
)

// wanted is what a question asks for beside its type.
type wanted struct {
	amount amount // that it asks for; zero where it asks for none
	naming bool   // it asks what something is called
	name   bool   // it asks for something that has a name: "which company"
}

// wants reads a question whose words in lower case are given.
func wants(question string, words []string) wanted {
	line := clauses(question)
	w := wanted{naming: askedNames().in(line)}
	for _, a := range amounts() {
		if a.asked.in(line) {
			w.amount = a
			break
		}
	}
	named := namedKinds()
	for i, word := range words {
		switch {
		case word == "what" || word == "which":
			w.name = w.name || named.in(phraseOf(words[i+1:min(len(words), i+4)]))
		case word == "nào" || strings.HasPrefix(word, "któr") || strings.HasPrefix(word, "jaki"):
			w.name = w.name || named.in(phraseOf(words[max(0, i-4):min(len(words), i+3)]))
		}
	}
	return w
}

// phraseOf are words as cue.in reads them.
func phraseOf(words []string) string { return " " + strings.Join(words, " ") + " " }

// amount is by which words a kind of amount is asked for, and which words and
// signs it is written with.
type amount struct {
	asked, words cue
	signs        string
}

func amounts() []amount {
	return []amount{
		{
			cue{"percent,percentage,proportion,share of", "procent,odsetek", "phần trăm,tỷ lệ"},
			cue{"percent,per cent,percentage", "procent,procenta", "phần trăm"},
			"%",
		},
		{
			cue{"how much money,cost,costs,price,pay,paid,worth,salary,budget,how much did", "kosztuje,kosztował,kosztowała,cena", "bao nhiêu tiền,chi phí,giá,trị giá"},
			cue{"dollars,pounds,euros,cents,euro,usd", "zł,złotych,dolarów", "đô la,đô,bảng"},
			"$€£¥",
		},
		{
			cue{"how long,how old,what age", "jak długo,ile lat", "bao lâu,bao nhiêu năm,bao nhiêu tuổi"},
			cue{
				"years,year,months,month,weeks,week,days,day,hours,hour,minutes,minute,seconds,century,centuries,decades,decade",
				"lat,lata,rok,miesięcy,tygodni,dni,godzin,minut,sekund", "năm,tháng,tuần,ngày,giờ,phút,giây,thế kỷ,thập kỷ",
			},
			"",
		},
		{
			cue{"how far,how tall,how high,how large,how big,how deep,how wide,how heavy,what size,how much area", "jak daleko,jak wysoki,jak duży", "bao xa,cao bao nhiêu,rộng bao nhiêu,diện tích,bao lớn"},
			cue{
				"km,kilometres,kilometers,miles,mile,feet,foot,ft,metres,meters,m,acres,acre,hectares,square,tons,tonnes,kg,lb,pounds,mi,inches,km2",
				"metrów,kilometrów,hektarów,ton", "dặm,mét,feet,hecta,tấn",
			},
			"",
		},
	}
}

// writtenIn reports whether a unit, with its line, writes such an amount.
func (a amount) writtenIn(raw, line string) bool {
	return a.words.in(line) || a.signs != "" && strings.ContainsAny(raw, a.signs)
}

func askedNames() cue {
	return cue{
		"called,known as,name of,the name,term,nickname,referred to,named,title,word",
		"nazywa się,nazwa,nazywał,określenie", "gọi là,tên,thuật ngữ,biệt danh,được biết đến",
	}
}

// givesName reports whether a unit, with its line, says what something is called.
func givesName(raw, line string) bool {
	return strings.ContainsAny(raw, "\"“”«") || cue{
		"called,known as,termed,named,referred to as,nicknamed,dubbed,titled,entitled,known",
		"zwany,zwana,zwane,nazywany,nazywana,znany jako", "gọi là,tên là,mang tên,biết đến với,được gọi",
	}.in(line)
}

// namedKinds are kinds of things that have names.
func namedKinds() cue {
	return cue{
		"company,companies,team,band,group,organization,organisation,university,school,college,book,film,movie,song,album,language,city,country,state,river,person,man,woman," +
			"king,emperor,president,author,scientist,mathematician,physicist,actor,player,name,nation,nationality,region,county,province,town,street,museum,church,party,agency," +
			"airport,newspaper,magazine,network,show,program,award,act,law,treaty,war,battle,religion,tribe,people,dynasty,empire,singer,writer,artist,architect,coach,quarterback," +
			"officer,general,leader,philosopher,explorer,engineer,chemist,inventor,building,hotel,stadium,park,island,mountain,sea,ocean,lake,continent,district,neighborhood,area,location,place",
		"firma,drużyna,zespół,organizacja,uniwersytet,szkoła,książka,film,język,miasto,kraj,państwo,rzeka,osoba,król,cesarz,prezydent,partia,wojna,bitwa",
		"công ty,đội,nhóm,tổ chức,đại học,trường,sách,phim,bài hát,ngôn ngữ,thành phố,quốc gia,nước,bang,tiểu bang,sông,người,vua,hoàng đế,tổng thống,tác giả,khoa học,nhà," +
			"cầu thủ,tên,khu vực,tỉnh,quận,hạt,đảng,cơ quan,chương trình,giải,đạo luật,hiệp ước,chiến tranh,tôn giáo,triều đại,đế chế,ca sĩ,bảo tàng,địa điểm,nơi",
	}
}

// fullName reports whether a unit names somebody by two words that a question,
// whose words are asked, lacks.
func fullName(raw string, asked set) bool {
	run := 0
	for field := range strings.FieldsSeq(raw) {
		word := strings.Trim(field, ".,;:!?'’`*_()[]\"“”")
		if word == "" || !unicode.IsUpper([]rune(word)[0]) || asked.has(strings.ToLower(word)) {
			run = 0
			continue
		}
		if run++; run == 2 {
			return true
		}
	}
	return false
}
