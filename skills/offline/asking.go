package offline

import "strings"

// asksIn reports whether a word of a language other than English, Polish and Vietnamese
// belongs to how one asks: "wie lange", "combien de temps".
func asksIn(lang, word string) bool {
	words, ok := askingWords[lang]
	return ok && strings.Contains(words, " "+word+" ")
}

//nolint:gochecknoglobals,misspell // a constant that Go has no syntax for; not English
var askingWords = map[string]string{
	"de": " lange hoch viel viele vielen oft weit groß schwer teuer bitte möchte möchten will wollen brauche brauchen benötige muss müssen " +
		"kann können darf dürfen soll sollen bekomme bekommt gibt geht funktioniert heißt bedeutet zeige erkläre sage finde steht genau eigentlich denn wieviel wieviele welchem ",
	"fr": " combien temps comment faut faut-il dois doit puis-je puis peut peux veux voudrais plaît plait explique expliquer dire signifie quel quelle quels quelles " +
		"est-ce y a-t-il pourquoi quand où qui quoi avoir faire montre besoin existe ",
	"es": " cuánto cuánta cuántos cuántas cuanto cuanta tiempo cómo como debo debe puedo puede quiero necesito hay significa explica dime muestra qué que cuál cuáles cuándo dónde quién por favor ",
	"it": " quanto quanta quanti quante tempo come devo deve posso può voglio vorrei serve significa spiega dimmi mostra quale quali quando dove chi cosa favore c'è ",
	"pt": " quanto quanta quantos quantas tempo como devo deve posso pode quero preciso significa explica diga mostra qual quais quando onde quem há favor ",
	"nl": " hoeveel hoelang lang hoog vaak moet kan mag wil nodig betekent werkt leg uit toon welke wanneer waar wie wat hoe ",
}
