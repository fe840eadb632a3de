package text

import (
	"strings"
	"unicode"
)

// opening is how many signs of a language the first word of a question gives: as many as
// tell of it where no other language begins so, one where English has the word too.
func opening(lang, question string) int {
	first := lower(firstWord(question))
	switch lang {
	case "pl":
		switch first {
		case "kto", "kogo", "komu", "czyj", "czyja", "gdzie", "kiedy", "dlaczego", "czemu", "ile", "ilu", "jaki", "jaka", "jakie", "jakich", "jaką",
			"który", "ktory", "która", "ktora", "które", "ktore", "czy", "skąd", "skad", "dokąd", "dokad", "podaj", "pokaż", "pokaz", "czym", "kim":
			return minSigns
		}
	case "de":
		switch first {
		case "wie", "wo", "warum", "wann", "wer", "wen", "wem", "wessen", "welche", "welcher", "welches", "welchen", "wieviel", "woher", "wohin", "wozu", "weshalb":
			return minSigns
		case "was":
			return 1
		}
	case "fr":
		switch first {
		case "qui", "quel", "quelle", "quels", "quelles", "où", "quand", "pourquoi", "combien", "qu'est", "qu’est", "est-ce":
			return minSigns
		}
	case "es":
		switch first {
		case "quién", "quien", "quiénes", "qué", "cómo", "dónde", "donde", "cuándo", "cuando", "cuál", "cual", "cuáles":
			return minSigns
		}
		if strings.HasPrefix(first, "cuánt") || strings.HasPrefix(first, "cuant") {
			return minSigns
		}
	case "it":
		switch first {
		case "quando", "quanto", "quanti", "quante", "perché", "quali", "cos'è", "cos’è":
			return minSigns
		case "chi", "dove", "quale", "cosa":
			return 1
		}
	case "pt":
		switch first {
		case "quem", "onde", "quando", "quanto", "quantos", "quantas", "qual", "quais":
			return minSigns
		}
	case "cs":
		switch first {
		case "kdo", "kde", "kdy", "proč", "kolik", "který", "která", "které", "jaký", "jaká", "jaké":
			return minSigns
		}
	}
	return 0
}

// firstWord is what a text begins with, up to white space or a sign that ends a word.
func firstWord(s string) string {
	s = strings.TrimLeftFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	if end := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune("'’-", r) }); end >= 0 {
		return s[:end]
	}
	return s
}

// votes reports whether a word speaks for a language: a function word or one
// that questions often hold. The lists leave out what two languages share,
// unless context decides in favour of the frequent one.
func votes(lang, w string) bool {
	switch lang {
	case "en":
		return StopWord("en", w) && !ambiguousEnglish(w) || englishSign(w)
	case "pl":
		return len(w) > 1 && polishStop(w) && !ambiguousPolish(w) || polishSign(w)
	case "vi":
		return vietnameseStop(w) && !ambiguousVietnamese(w) || vietnameseSign(w)
	}
	return westernSign(lang, w)
}

// ambiguousEnglish holds English stop words that another of the languages uses
// at least as often.
func ambiguousEnglish(w string) bool {
	switch w {
	case "a", "i", "do", "on", "am", "an", "so", "no", "me", "he", "in", "don", "s", "t", "d", "m", "re", "ve", "ll", "was", "of", "over", "once":
		return true
	}
	return false
}

func englishSign(w string) bool {
	switch w {
	case "what's", "how's", "where's", "it's", "that's", "there's", "who's", "windows", "use", "using", "show", "tell", "give", "make",
		"get", "got", "need", "want", "list", "explain", "thanks", "thank", "hello", "hi", "hey", "please", "help", "yes", "okay", "one", "two",
		"difference", "remove", "delete", "create", "start", "stop", "work", "works", "many", "much", "does", "without", "also", "instead",
		"example", "another", "any", "may", "might", "must", "else", "still", "back", "set", "change", "find", "run":
		return true
	}
	return false
}

// ambiguousPolish holds Polish stop words that are as good in English or
// another of the languages.
func ambiguousPolish(w string) bool {
	switch w {
	case "on", "do", "go", "my", "to", "one", "ten", "be", "im", "we", "te", "ma", "mi", "ale":
		return true
	}
	return false
}

func polishSign(w string) bool {
	switch w {
	case "dzień", "dobry", "cześć", "dziękuję", "dzięki", "proszę", "wszystkie", "wszystkich", "usunąć", "zrobić", "działa", "działają", "kontener",
		"kontenera", "kontenery", "kontenerów", "obraz", "obrazy", "obrazów", "plik", "pliki", "plików", "serwer", "sieci", "wolumen", "wersja", "wersji",
		"jaki", "ustawić", "uruchomić", "zatrzymać", "zmienić", "sprawdzić", "gdzie", "polecenie", "polecenia", "dalej", "potem", "teraz",
		"zainstalować", "hasło", "dane", "danych", "pokaż", "podaj", "wyjaśnij", "opisz", "jest", "czym", "różnica", "między", "pomocy", "zamiast", "przykład",
		"na", "tu", "od", "windowsie", "linuksie", "macu", "witaj", "hej", "siema", "użyć", "użyj", "inaczej", "wtedy", "stan", "domu", "kopię", "miejsca", "miejsce", "zajmuje":
		return true
	}
	return false
}

// ambiguousVietnamese holds syllables without diacritics that are words or
// abbreviations elsewhere.
func ambiguousVietnamese(w string) bool {
	switch w {
	case "ai", "do", "hay", "ra", "sao", "cho", "sau", "qua", "theo", "bao", "khi", "mà", "là", "có", "vi", "ta":
		return true
	}
	return false
}

func vietnameseSign(w string) bool {
	switch w {
	case "chị", "người", "tiền", "luật", "chào", "nhé", "cảm", "ơn", "theo", "khi", "cho", "là", "mà", "có", "sao":
		return true
	}
	return false
}

func westernSign(lang, w string) bool {
	switch lang {
	case "de":
		switch w {
		case "der", "die", "das", "und", "ist", "nicht", "wie", "ich", "ein", "eine", "einen", "einem", "einer", "wo", "warum", "wann", "mit", "auf",
			"für", "von", "zu", "dem", "den", "kann", "man", "werden", "wird", "sind", "bei", "auch", "oder", "welche", "welcher", "welches", "gibt", "es",
			"lösche", "alle", "mein", "meine", "im", "hat", "haben", "wurde", "wurden", "viel", "lange", "kostet", "heißt", "ihr", "wir", "zum", "zur", "über", "nach", "wenn", "danke", "hallo", "unter", "aus":
			return true
		}
	case "fr":
		switch w {
		case "le", "la", "les", "des", "une", "est", "et", "pas", "pour", "dans", "comment", "quel", "quelle", "quels", "quelles", "où", "pourquoi",
			"je", "vous", "nous", "il", "elle", "sur", "avec", "sont", "du", "au", "aux", "ce", "cette", "qui", "puis", "mon", "mes", "ma", "peut",
			"faire", "merci", "bonjour", "supprimer", "quoi", "combien", "qu'est", "c'est", "l'image", "d'un", "d'une", "mais", "ou", "un", "de":
			return true
		}
	case "es":
		switch w {
		case "el", "los", "las", "una", "un", "qué", "cómo", "dónde", "cuál", "cuándo", "por", "para", "con", "es", "son", "está", "y", "en", "del", "al",
			"se", "puedo", "mi", "mis", "todos", "todas", "hola", "gracias", "que", "como", "más", "pero", "hay", "hacer", "la", "de", "lo", "cuántos":
			return true
		}
	case "it":
		switch w {
		case "il", "lo", "gli", "una", "un", "che", "come", "dove", "perché", "quando", "quale", "quali", "sono", "è", "di", "del", "della", "dei", "nel",
			"con", "per", "non", "ha", "hanno", "posso", "mio", "tutti", "tutte", "ciao", "grazie", "si", "cosa", "più", "la", "le", "questo", "cos'è", "quanto":
			return true
		}
	case "pt":
		switch w {
		case "o", "os", "um", "uma", "não", "como", "onde", "quando", "qual", "quais", "por", "para", "com", "é", "são", "da", "dos", "das",
			"na", "em", "eu", "posso", "meu", "minha", "todos", "obrigado", "olá", "que", "você", "mais", "fazer", "de", "está":
			return true
		}
	case "cs":
		switch w {
		case "jak", "co", "kde", "proč", "kdy", "který", "která", "které", "je", "jsou", "není", "všechny", "jaký", "jaká", "jaké", "mohu", "můžu", "ahoj",
			"děkuji", "pro", "při", "nebo", "ale", "jsem", "aby", "když", "na", "se", "si", "od", "ve":
			return true
		}
	}
	return false
}
