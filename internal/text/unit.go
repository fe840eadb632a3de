package text

import "strings"

// units are written behind their number with or without a space. Single letters that are often part of a name,
// such as the a of "4a", are missing.
var units = map[string]bool{
	"g": true, "kg": true, "mg": true, "lb": true, "lbs": true, "oz": true, "l": true, "ml": true, "cl": true,
	"m": true, "km": true, "cm": true, "mm": true, "ft": true, "h": true, "min": true, "sec": true, "ms": true,
	"kb": true, "mb": true, "gb": true, "tb": true, "mhz": true, "ghz": true, "w": true, "kw": true, "kwh": true, "v": true,
	"eur": true, "usd": true, "gbp": true, "chf": true, "pln": true, "zł": true, "vnd": true, "pcs": true, "stk": true, "szt": true,
}

// NumberLength returns the length of the number in front of a unit: 1 for "1kg"; 0 for another word. So "1kg" has
// the terms of "1 kg".
func NumberLength(word string) int {
	if word == "" || !isDigit(word[0]) { // most words
		return 0
	}
	n := len(word) - len(strings.TrimLeft(word, "0123456789"))
	if !units[strings.ToLower(word[n:])] {
		return 0
	}
	return n
}
