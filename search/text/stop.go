package text

import "github.com/kljensen/snowball/english"

// StopWord reports whether a word in lower case is a function word of a
// language: one that says how, not what. Languages: those of [For]; of another
// none is.
//
// English takes the list of the Snowball project with three corrections:
// contractions belong to it, and up, down and off do not, because software is
// brought up, taken down and switched off. Negations are in it: they matter
// for the answer and are read from the text there, but for finding the passage
// they are noise.
func StopWord(lang, word string) bool {
	switch lang {
	case "en":
		switch word {
		case "up", "down", "off":
			return false
		}
		return english.IsStopWord(word) || englishStop(word)
	case "pl":
		return polishStop(word)
	case "vi":
		return vietnameseStop(word)
	}
	return stopSets()[lang][word]
}

// englishStop holds what the Snowball list leaves out.
func englishStop(word string) bool {
	switch word {
	case "would", "could", "shall", "us", "cannot", "ought", "let",
		"ain't", "aren't", "can't", "couldn't", "didn't", "doesn't", "don't", "hadn't", "hasn't", "haven't",
		"isn't", "mustn't", "needn't", "shan't", "shouldn't", "wasn't", "weren't", "won't", "wouldn't",
		"i'm", "i've", "i'd", "i'll", "you're", "you've", "you'd", "you'll", "he'd", "he'll", "she'd", "she'll",
		"it'd", "it'll", "we're", "we've", "we'd", "we'll", "they're", "they've", "they'd", "they'll",
		"that'll", "that'd", "there'll", "there'd", "who'd", "who'll", "what'll", "what're", "how'd",
		"d", "ll", "m", "re", "ve", "":
		return true
	}
	return false
}

func polishStop(word string) bool {
	switch word {
	case "a", "aby", "ale", "albo", "ani", "aż", "bez", "bo", "bym", "był", "była", "było", "były", "być", "będzie", "będą",
		"chcę", "ci", "co", "coś", "czy", "czym", "czego", "często", "dla", "do", "dlaczego", "gdy", "gdzie", "go", "i", "ich",
		"ile", "im", "inny", "inne", "iż", "ja", "jak", "jaka", "jaki", "jakie", "jakiś", "jako", "je", "jego", "jej", "jest",
		"jestem", "jeśli", "jeżeli", "już", "każdy", "każde", "kiedy", "kto", "która", "które", "którego", "której", "który",
		"których", "którym", "którą", "lub", "ma", "mam", "mają", "mi", "mnie", "moge", "mogę", "może", "można", "mój", "moje", "moja", "musi",
		"muszę", "my", "na", "nad", "nam", "nas", "nawet", "nich", "nie", "nic", "niego", "niej", "nim", "niż", "o", "od", "on", "ona",
		"one", "oni", "ono", "oraz", "po", "pod", "ponieważ", "poza", "przed", "przez", "przy", "są", "się", "skąd", "swój",
		"ta", "tak", "także", "taki", "takie", "tam", "te", "tego", "tej", "ten", "też", "to", "tu", "tych", "tylko", "tym", "tę",
		"u", "w", "we", "wiele", "więc", "wszystko", "wy", "z", "za", "ze", "że", "żeby", "żaden", "został", "zostać", "jakim", "jaką", "ją":
		return true
	}
	return false
}

func vietnameseStop(word string) bool {
	switch word {
	case "ai", "bao", "bằng", "bị", "bởi", "các", "cái", "có", "của", "cho", "cùng", "cũng", "chỉ", "chưa", "do", "đã", "đang",
		"đâu", "để", "đến", "đi", "được", "đó", "gì", "hay", "hoặc", "khi", "không", "là", "lại", "làm", "lên", "mà", "mỗi", "một",
		"nào", "này", "nên", "nếu", "nhiêu", "như", "nhưng", "những", "nhiều", "ở", "phải", "qua", "ra", "rằng", "rất", "rồi",
		"sao", "sẽ", "tại", "theo", "thế", "thì", "tôi", "trên", "trong", "trước", "từ", "từng", "và", "vào", "vẫn", "về", "vì",
		"việc", "với", "vậy", "xin", "hãy", "thể", "dưới", "giữa", "sau", "bạn", "bất", "kỳ":
		return true
	}
	return false
}
