package load

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"strings"

	"example.com/ragflow/internal/document"
)

const maxChapter = 4 << 20 // bytes of a chapter

// readEPUB reads an electronic book: its chapters in reading order, each as an HTML page.
func (d *draft) readEPUB(a *archive, w *builder) error {
	var container struct {
		Files []struct {
			Path string `xml:"full-path,attr"`
		} `xml:"rootfiles>rootfile"`
	}
	if err := a.decode("META-INF/container.xml", &container); err != nil {
		return err
	}
	if len(container.Files) == 0 {
		return fmt.Errorf("%w: it names no contents", ErrBroken)
	}
	a.about = container.Files[0].Path
	chapters, err := a.chapters(a.about)
	if err != nil {
		return err
	}
	for _, href := range chapters {
		page, err := a.read(path.Join(path.Dir(a.about), href), maxChapter)
		if err == nil {
			chapter := draft{size: d.size}
			if err = chapter.readHTML(page); err == nil {
				w.paragraph(chapter.Text)
			}
		}
		if w.full() != nil || a.left < 0 {
			return cmp.Or(w.full(), err)
		}
		if err != nil {
			d.Warnings = append(d.Warnings, fmt.Sprintf("chapter %s left out: %v", href, err))
		}
	}
	if w.out.Len() == 0 {
		return fmt.Errorf("%w: no chapter of it can be read", ErrNoText)
	}
	return nil
}

// chapters lists the chapters of a book in reading order, each once.
func (a *archive) chapters(contents string) ([]string, error) {
	var protection struct {
		Methods []struct {
			Algorithm string `xml:"Algorithm,attr"`
		} `xml:"EncryptedData>EncryptionMethod"`
	}
	_ = a.decode("META-INF/encryption.xml", &protection) // most books have none
	for _, m := range protection.Methods {
		if !strings.Contains(m.Algorithm, "font") && !strings.Contains(m.Algorithm, "obfuscation") {
			return nil, fmt.Errorf("%w: its publisher protects it", ErrEncrypted)
		}
	}
	var book struct {
		Items []struct {
			ID         string `xml:"id,attr"`
			Href       string `xml:"href,attr"`
			Type       string `xml:"media-type,attr"`
			Properties string `xml:"properties,attr"`
		} `xml:"manifest>item"`
		Spine []struct {
			ID string `xml:"idref,attr"`
		} `xml:"spine>itemref"`
	}
	if err := a.decode(contents, &book); err != nil {
		return nil, err
	}
	pages := map[string]string{}
	for _, item := range book.Items {
		if strings.Contains(item.Type, "html") && !document.HasWord(item.Properties, "nav") {
			pages[item.ID] = item.Href
		}
	}
	var out []string
	for _, ref := range book.Spine {
		href, ok := pages[ref.ID]
		if !ok {
			continue
		}
		delete(pages, ref.ID)
		if plain, err := url.PathUnescape(href); err == nil {
			href = plain
		}
		out = append(out, href)
	}
	return out, nil
}
