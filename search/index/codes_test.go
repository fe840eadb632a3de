package index_test

import (
	"testing"

	"example.com/ragflow/search/index"
	"example.com/ragflow/state"
)

// TestCodes is Z20: who types the code of a law or of an error as a whole finds
// it first, and who types a part of it finds it still.
func TestCodes(t *testing.T) {
	pages := []struct{ source, text string }{
		{"123-ND-CP", "Nghị định 123/NĐ-CP quy định về hóa đơn và chứng từ."},
		{"124-ND-CP", "Nghị định 124/NĐ-CP quy định về hóa đơn và chứng từ. Nghị định này thay thế Nghị định số 12 và 3."},
		{"123-QD-CP", "Quyết định 123/QĐ-CP về nghị định và chứng từ. CP ban hành nghị định, viết tắt là NĐ."},
		{"15-2020-BTC", "Thông tư 15/2020/TT-BTC hướng dẫn về thuế."},
		{"15-2021-BTC", "Thông tư 15/2021/TT-BTC hướng dẫn về thuế, thay thế thông tư số 15 ngày 20 năm 2020."},
		{"conn-42", "The client gave up – ERR_CONN_42. Restart the server."},
		{"conn-43", "The client gave up – ERR_CONN_43. Restart the server. The number 42 of err or conn means nothing."},
		{"rust-308", "error[E0308] – mismatched types."},
		{"rust-382", "error[E0382] – use of moved value. E stands for error, 0308 for nothing."},
		{"windows-5", "Error 0x80070005 means that access is denied."},
		{"windows-2", "Error 0x80070002 means that a file is missing, not that access is denied."},
		{"http-502", "HTTP 502 Bad Gateway – the upstream answered with nonsense."},
		{"http-503", "HTTP 503 Service Unavailable – HTTP is up, the service is not. HTTP, HTTP, HTTP."},
		{"port-502", "Modbus listens on port 502. 502 is its only port – 502."},
		{"ora-942", "ORA-00942 – table or view does not exist."},
		{"ora-1017", "ORA-01017 – invalid password. ORA, ORA and 942 more."},
	}
	db := open(t, "", index.Options{})
	for _, p := range pages {
		put(t, db, "/docs", file(p.source, "", p.text))
	}
	s := searcher(t, db, "/docs")
	for _, tt := range []struct{ query, want string }{
		{"Nghị định 123/NĐ-CP", "123-ND-CP"},
		{"nghị định 123/nđ-cp", "123-ND-CP"},
		{"nghi dinh 123/ND-CP", "123-ND-CP"},
		{"Nghị định 124/NĐ-CP", "124-ND-CP"},
		{"123/QĐ-CP", "123-QD-CP"},
		{"Thông tư 15/2020/TT-BTC", "15-2020-BTC"},
		{"15/2021/TT-BTC nói gì?", "15-2021-BTC"},
		{"ERR_CONN_42", "conn-42"},
		{"err-conn-42", "conn-42"},
		{"What does ERR_CONN_43 mean?", "conn-43"},
		{"E0308", "rust-308"},
		{"error[E0382]", "rust-382"},
		{"0x80070005", "windows-5"},
		{"error 0X80070002", "windows-2"},
		{"HTTP 502", "http-502"},
		{"HTTP/1.1 502 Bad Gateway", "http-502"},
		{"ORA-00942", "ora-942"},
		{"00942", "ora-942"},
		{"CONN 43", "conn-43"},
	} {
		hits, err := s.Search(t.Context(), state.Query{Text: tt.query}, 3)
		if err != nil {
			t.Fatal(err)
		}
		got := "nothing"
		if len(hits) > 0 {
			got = hits[0].Chunk
		}
		if want := tt.want + "#0"; got != want {
			t.Errorf("%q finds %s first, want %s", tt.query, got, want)
		}
	}
}
