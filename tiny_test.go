package ragflow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"example.com/ragflow"
)

// TestFewDocuments asks of one page, two and five: what a new user tries first.
// So few chunks tell nothing about how rare a word is.
func TestFewDocuments(t *testing.T) {
	pages := map[string][]string{
		"en": {
			"# Volumes\n\nA volume keeps the data of a container after the container is removed. Create one with `docker volume create`.\n\nTo back up a volume, run a container that mounts it and writes an archive with tar.\n",
			"# Bees\n\nA colony needs about fifteen kilograms of honey to get through the winter.\n",
			"# Bread\n\nBake the loaf at 230 degrees for forty minutes.\n",
			"# Office\n\nThe office opens at eight. Visitors report to Anna Nowak on the second floor.\n",
			"# Tax\n\nReceipts are kept for ten years.\n",
		},
		"pl": {
			"# Urlop\n\nWniosek o urlop składa się u kierownika co najmniej dwa tygodnie wcześniej.\n",
			"# Parking\n\nNa parkingu obowiązuje opłata pięciu złotych za godzinę.\n",
			"# Biblioteka\n\nKsiążki wypożycza się na trzydzieści dni.\n",
			"# Kuchnia\n\nZmywarkę włącza osoba, która wychodzi ostatnia.\n",
			"# Klucze\n\nZapasowe klucze są w sejfie na parterze.\n",
		},
		"vi": {
			"# Nghỉ phép\n\nNhân viên nộp đơn nghỉ phép cho quản lý trước hai tuần.\n",
			"# Bãi đỗ xe\n\nPhí đỗ xe là năm nghìn đồng một giờ.\n",
			"# Thư viện\n\nSách được mượn trong ba mươi ngày.\n",
			"# Nhà bếp\n\nNgười về cuối cùng bật máy rửa bát.\n",
			"# Chìa khóa\n\nChìa khóa dự phòng ở trong két sắt tầng một.\n",
		},
	}
	for _, tt := range []struct {
		language, question string
		declined           bool
	}{
		{"en", "How do I create a volume?", false},
		{"en", "How do I back up a volume?", false},
		{"en", "What keeps the data of a container?", false},
		{"en", "Who won the football world cup?", true},
		{"en", "What is the capital of Australia?", true},
		{"pl", "U kogo składa się wniosek o urlop?", false},
		{"pl", "Kto wygrał mistrzostwa świata w piłce nożnej?", true},
		{"vi", "Nộp đơn nghỉ phép cho ai?", false},
		{"vi", "Đơn nghỉ phép phải nộp trước bao lâu?", false},
		{"vi", "Thủ đô của nước Úc là gì?", true},
	} {
		for _, n := range []int{1, 2, 5} {
			t.Run(fmt.Sprintf("%s of %d", tt.question, n), func(t *testing.T) {
				docs := t.TempDir()
				for i, page := range pages[tt.language][:n] {
					if err := os.WriteFile(filepath.Join(docs, fmt.Sprintf("%d.md", i)), []byte(page), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				a, err := ragflow.Open(t.Context(), ragflow.Config{Docs: []string{docs}})
				if err != nil {
					t.Fatal(err)
				}
				defer a.Close()
				r, err := a.Ask(t.Context(), ragflow.Question{Text: tt.question})
				if err != nil {
					t.Fatal(err)
				}
				if r.Abstained != tt.declined {
					t.Errorf("declined %v at %.2f, want %v:\n%s", r.Abstained, r.Grade.Score, tt.declined, r.Answer)
				}
			})
		}
	}
}
