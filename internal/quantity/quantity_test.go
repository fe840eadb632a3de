package quantity_test

import (
	"math/big"
	"strings"
	"testing"

	"example.com/ragflow/internal/quantity"
)

// TestColumn reads columns and writes their sum and their mean.
func TestColumn(t *testing.T) {
	for _, tt := range []struct{ name, column, sum, mean string }{
		{"plain", "3|4|6", "13", "4.33"},
		{"German", "1.200,00 €|350,50 €|89,90 €", "1.640,40 €", "546,80 €"},
		{"English", "$1,250.00|$310.5", "$1,560.50", "$780.25"},
		{"Polish", "1\u00a0234,50 zł|89,00 zł", "1 323,50 zł", "661,75 zł"},
		{"Vietnamese", "15.000.000 đồng|900.000 đồng", "15.900.000 đồng", "7.950.000 đồng"},
		{"Swiss", "CHF 1'200.50|CHF 99.50", "CHF 1'300.00", "CHF 650.00"},
		{"exact where floats are not", "0.1|0.2", "0.3", "0.15"},
		{"negative", "-5|3.5|−1", "−2.5", "−0.83"},
		{"percent", "12 %|7,5 %", "19,5 %", "9,75 %"},
		{"a lone sign", "182.400 km|8.700 km", "191.100 km", "95.550 km"},
		{"a lone sign between numbers without", "1,200|950", "2,150", "1,075"},
		{"a lone sign beside decimals", "1.234|2.5", "3.734", "1.867"},
		{"decimals below one", "0.350 kg|1.250 kg", "1.600 kg", "0.800 kg"},
		{"decimals that end in zeros", "12.500|7.25", "19.750", "9.875"},
		{"larger than a machine word", "99999999999999999999|1", "100000000000000000000", "50000000000000000000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, ok := quantity.New(strings.Split(tt.column, "|"))
			if !ok {
				t.Fatalf("%q is not read", tt.column)
			}
			sum := new(big.Rat)
			for _, v := range c.Values {
				sum.Add(sum, v)
			}
			mean := new(big.Rat).Quo(sum, big.NewRat(int64(len(c.Values)), 1))
			if got := []string{c.Format(sum), c.Format(mean)}; got[0] != tt.sum || got[1] != tt.mean {
				t.Errorf("got %q, want %q and %q", got, tt.sum, tt.mean)
			}
		})
	}
}

// TestNoColumn has columns that cannot be added up.
func TestNoColumn(t *testing.T) {
	for _, column := range []string{
		"", "|", "5 EUR|5 USD", "5|5 kg", "A-101|A-102", "1–4|2", "ca. 5", "007|008", "5*", "2024-01-05", "05.01.2024|06.01.2024",
		"1.2.3.4", "1,234.5|1.234,5", "12.34.567", "5 (comment: old price)", "12:30", "1/2", "R2", "--5", "-$-5", "1,5|1.5", "5; 6", "1e5",
	} {
		if c, ok := quantity.New(strings.Split(column, "|")); ok {
			t.Errorf("%q is read as %v", column, c.Values)
		}
	}
}

// TestGaps keeps empty texts apart from zeros.
func TestGaps(t *testing.T) {
	c, ok := quantity.New([]string{"", "5", "", "0"})
	if !ok || len(c.Values) != 4 || c.Values[0] != nil || c.Values[2] != nil || c.Values[3] == nil {
		t.Errorf("got %v, %v", c.Values, ok)
	}
}

// TestKinds tells years and whole numbers from others.
func TestKinds(t *testing.T) {
	for column, want := range map[string][2]bool{
		"1999|2024": {true, true}, "1999|12": {false, true}, "1,999": {false, true}, "2000 kg": {false, false}, "1999.5": {false, false},
	} {
		c, ok := quantity.New(strings.Split(column, "|"))
		if got := [2]bool{c.Years, c.Places == 0 && c.Unit == ""}; !ok || got != want {
			t.Errorf("%q: got years %v, whole %v", column, got[0], got[1])
		}
	}
}
