package offline

import (
	"path"
	"regexp"
	"strings"

	"example.com/ragflow/state"
)

// What units look like that answer a type of question. The patterns hold for
// all languages; words stand in tables.
var (
	codePattern    = regexp.MustCompile("`[^`]+`|(?:^|\\s)--?[a-z][\\w-]+")
	pathPattern    = regexp.MustCompile(`(?:^|[\s` + "`" + `"'(])(?:~|\.{0,2}|[A-Z]:)?(?:[/\\][\w.~%$-]+){2,}|\w+\.(?:json|ya?ml|conf|toml|md|txt|raw|env|ini|cfg)\b`)
	definesPattern = regexp.MustCompile(`(?i)^\W*(?:an? |the )?[\w` + "`" + `*' ()/.-]{2,60}? (?:is|are|stands for|refers? to|means|lets|allows|provides|was|enables|protects) `)
	imperative     = regexp.MustCompile(`(?i)^\W*(?:to |use |run |set |add |create |specify |select |open |go to |enter |edit |make |start |stop |install |pass |configure |enable |change |choose |put |if you|you can |in order to |then |first)`)
	navigation     = regexp.MustCompile(`(?i)^\W*(?:for (?:more|further|additional|details|a full|a list|an? overview)|see |refer to|read |learn (?:more|how)|to learn|visit |check out|more information|related)|(?i)\bfor (?:more )?(?:information|details)\b`)
	year           = regexp.MustCompile(`\b(?:1\d|20)\d\d\b|\b\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}\b`)
)

// besideWay begins what holds only where the usual way is closed.
var besideWay = regexp.MustCompile(`(?i)^\W*(?:if you can(?:'t|not)|if you (?:do not|don't) want|alternatively|as an alternative|to uninstall|to remove)\b`)

// changes reports whether a document lists what releases changed: it tells of
// faults that are gone, and seldom how something works.
func changes(source string) bool { return changePath.MatchString(source) }

func asksForChanges(question string) bool { return changeWords.MatchString(question) }

// tests reports whether a passage is code that tries other code: it has all the names of
// it, and says least of all how it is used. Examples that are run as tests do.
func tests(c state.Chunk) bool {
	return c.Cut.Language != "" && testPath.MatchString(c.Source) && !strings.HasPrefix(path.Base(c.Source), "example")
}

func asksForTests(question string) bool { return testWords.MatchString(question) }

var (
	testPath    = regexp.MustCompile(`(?i)(?:^|/)(?:tests?|__tests__|specs?|testdata|fixtures|benchmarks?)/|(?:^|/)(?:test_[^/]*|conftest)\.\w+$|[._-](?:tests?|spec)\.\w+$|(?-i:(?:Tests?|Spec)\.(?:java|kt|cs|swift|scala|php)$)`)
	testWords   = regexp.MustCompile(`(?i)\b(?:py|unit)?test|\b(?:mock|fixture|assert|spec\b|bench)|kiểm thử`)
	changePath  = regexp.MustCompile(`(?i)release[-_]?notes|changelog|what[-_]?s[-_]?new|(?:^|/)(?:changes|history)\b|(?:^|/)releases?/v?\d`)
	changeWords = regexp.MustCompile(`(?i)\b(?:releases?d?|versions?|fixed|changed|changes|new in|since|changelog|deprecated|removed in|added in|\d+\.\d+)\b`)
)

// cue is a set of words and phrases in each language, divided by commas.
type cue struct{ en, pl, vi string }

// in reports whether a line that clauses made holds one of the words.
func (c cue) in(line string) bool {
	return anyPhrase(line, c.en) || anyPhrase(line, c.pl) || anyPhrase(line, c.vi)
}

func reasons() cue {
	return cue{
		"because,since,due to,as a result,so that,otherwise,prevent,prevents,cause,causes,caused,reason,therefore,lead to,leads to,led to,result in,resulted in,thus,in order to,by default,not supported,doesn't,can't,cannot,isn't",
		"ponieważ,bo,gdyż,dlatego,aby,żeby,domyślnie",
		"bởi vì,vì,do,nên,nhằm,để,dẫn đến,khiến,nguyên nhân",
	}
}

func dates() cue {
	return cue{
		"january,february,march,april,june,july,august,september,october,november,december,century,centuries,monday,tuesday,wednesday,thursday,friday,saturday,sunday,decade,today,years ago",
		"stycznia,lutego,marca,kwietnia,maja,czerwca,lipca,sierpnia,września,października,listopada,grudnia,wieku,roku",
		"thế kỷ,thập niên,thập kỷ,ngày,tháng,mùa xuân,mùa hè,mùa thu,mùa đông",
	}
}

// moments say when something happens that has no date.
func moments() cue {
	return cue{
		"when,after,before,until,once,seconds,minutes,hours,days,during,while,ago",
		"gdy,kiedy,po,przed,dopóki,sekund,minut,godzin,dni",
		"khi,sau khi,trước khi,cho đến khi,giây,phút,giờ,sau,trước",
	}
}

func numerals() cue {
	return cue{
		"two,three,four,five,six,seven,eight,nine,ten,eleven,twelve,thirteen,fifteen,twenty,thirty,forty,fifty,hundred,thousand,million,billion,half,third,quarter,dozen,once,twice,single,percent",
		"dwa,dwie,trzy,cztery,pięć,sześć,siedem,osiem,dziewięć,dziesięć,sto,tysiąc,mln,połowa",
		"hai,ba,bốn,sáu,bảy,tám,chín,mười,trăm,nghìn,ngàn,triệu,tỷ,nửa,phần trăm,một nửa",
	}
}

func places() cue {
	return cue{
		"in,at,near,from,located,north,south,east,west,city,country,region,university,street",
		"w,we,na,przy,koło,znajduje się",
		"ở,tại,nằm,thành phố,quốc gia,vùng,miền,phía bắc,phía nam",
	}
}
