package text_test

import (
	"strings"
	"testing"

	"example.com/ragflow/internal/text"
)

// greekForms are inflected forms, a word or family a line. No ending was changed in view of the second
// half.
const greekForms = `
αρχείο αρχεία αρχείου αρχείων
εικόνα εικόνες εικόνας εικόνων
κωδικός κωδικού κωδικοί κωδικών κωδικούς
χρήστης χρήστη χρήστες χρηστών
σύστημα συστήματος συστήματα συστημάτων
ρύθμιση ρυθμίσεις ρύθμισης ρυθμίσεων ρυθμίζω ρυθμίζει ρυθμισμένο
εκτύπωση εκτυπώσεις εκτυπώνω εκτυπώνει εκτυπώσω
αποθήκευση αποθηκεύω αποθηκεύσω αποθηκεύεται αποθηκευμένα
διαγραφή διαγραφής διαγράφω διαγράφεται διαγράψω διαγράψετε
υπολογιστής υπολογιστή υπολογιστές υπολογίζω υπολογισμός
εργασία εργασίας εργασίες εργάζομαι εργαζόμενος εργαζομένων
προϊόν προϊόντος προϊόντα προϊόντων
πόλη πόλης πόλεις πόλεων
άδεια άδειες άδειας αδειών
--
μισθός μισθού μισθοί μισθών μισθούς
σύμβαση συμβάσεις σύμβασης συμβάσεων
πελάτης πελάτη πελάτες πελατών
τιμολόγιο τιμολόγια τιμολογίου τιμολογίων
πρόβλημα προβλήματα προβλήματος προβλημάτων
δίκτυο δικτύου δίκτυα δικτύων
σύνδεση συνδέσεις σύνδεσης συνδέσεων
υπηρεσία υπηρεσίας υπηρεσίες υπηρεσιών
υπάλληλος υπαλλήλου υπάλληλοι υπαλλήλων υπαλλήλους
ενημέρωση ενημερώσεις ενημερώνω ενημερώσετε ενημερωμένο
οργανισμός οργανισμού οργανισμοί οργανισμών
ανοίγω ανοίγει ανοίξω ανοίξετε
βιβλίο βιβλία βιβλίου βιβλίων
σχολείο σχολεία σχολείου σχολείων
`

func TestGreekForms(t *testing.T) {
	chosen, unseen, _ := strings.Cut(greekForms, "--")
	for _, half := range []struct {
		name, forms string
		together    int // families whose forms have one term
	}{{"chosen on", chosen, 14}, {"unseen", unseen, 14}} {
		together := 0
		for family := range strings.Lines(strings.TrimSpace(half.forms)) {
			terms := map[string]bool{}
			for _, token := range text.For("el").Analyze(family) {
				terms[token.Term] = true
			}
			if len(terms) == 1 {
				together++
			} else {
				t.Logf("%s: %v", strings.TrimSpace(family), terms)
			}
		}
		if together < half.together {
			t.Errorf("%s: %d families have one term, want %d", half.name, together, half.together)
		}
	}
}

func TestGreekTerms(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"function words go", "Πώς διαγράφω όλες τις εικόνες;", "διαγραφ εικον"},
		{"accents and capitals do not count", "ΑΡΧΕΙΟ αρχειο αρχείο", "αρχε αρχε αρχε"},
		{"different words stay apart", "αρχή αρχείο γραμμή γράμμα", "αρχ αρχε γραμμ γραμ"},
		{"signs of science stay", "α β μ μm", "α β μ μm"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, a := range []text.Analyzer{text.For("el"), text.Multilingual()} {
				var got []string
				for _, token := range a.Analyze(tt.in) {
					got = append(got, token.Term)
				}
				if strings.Join(got, " ") != tt.want {
					t.Errorf("%s: %q, want %q", a.Name(), got, tt.want)
				}
			}
		})
	}
}
