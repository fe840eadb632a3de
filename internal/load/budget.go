package load

import "example.com/ragflow/internal/document"

// budget is what may be made of one file. It grows with the file, so that to read the file and
// to cut it takes at most 64 MB and eight times its size.
type budget struct {
	unpacked int64 // bytes of the parts of an archive
	text     int   // bytes
	blocks   int   // also the rows and records of data; an HTML page has four tags or texts for each
}

func budgetOf(size int) budget {
	return budget{unpacked: min(16<<20+32*int64(size), 256<<20), text: 6<<20 + 2*size, blocks: 50_000 + size/100}
}

// Memory is how many bytes reading a file and cutting it may take at most.
func Memory(f File) int64 {
	switch kindOf(f.Source) {
	case document.PDF:
		return pdfMemory*64<<10 + 2*f.Size
	case document.DOCX, document.ODT, document.EPUB, document.XLSX, document.PPTX:
		return 64<<20 + 8*f.Size
	}
	return min(64<<20, 200*f.Size) + 8*f.Size
}
