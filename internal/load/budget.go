package load

import (
	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/pdf"
)

// budget limits what is made of one file. It grows with the file, so that reading and cutting take at most 64
// MB and eight times its size.
type budget struct {
	unpacked int64 // bytes of the parts of an archive
	text     int   // bytes
	blocks   int   // also rows and records of data; an HTML page has four tags or texts for each
}

func budgetOf(size int) budget {
	return budget{unpacked: min(16<<20+32*int64(size), 256<<20), text: 6<<20 + 2*size, blocks: 100_000 + size/100}
}

// Memory returns the maximum memory in bytes for reading and cutting a file of size bytes.
func Memory(f folder.File) int64 {
	switch document.KindOf(f.Source) {
	case document.PDF:
		return pdf.Memory + 2*f.Size
	case document.DOCX, document.ODT, document.EPUB, document.XLSX, document.PPTX, document.ODS, document.ODP:
		return 64<<20 + 8*f.Size
	case document.EML, document.MBOX, document.MSG: // an attachment may be any of these
		return min(64<<20, 2_000*f.Size) + 8*f.Size
	}
	return min(64<<20, 200*f.Size) + 8*f.Size
}
