package search

// HitExplanation says where the score of a chunk comes from:
//
//	Score = Chunk + DocumentShare · Document
//
// where Chunk and Document are the sums of the contributions of Terms. Score is
// that of the hit to the last bit; the sums are so but for rounding, about
// 1e-15 of them. See [Ranking] for the formula.
type HitExplanation struct {
	ChunkID       string            `json:"chunk_id"`
	Score         float64           `json:"score"`
	Chunk         float64           `json:"chunk"`          // what the chunk itself gets
	Document      float64           `json:"document"`       // what its document gets
	DocumentShare float64           `json:"document_share"` // Ranking.Document
	Ranking       Ranking           `json:"ranking"`
	Chunks        int               `json:"chunks"`    // N of the idf of chunks
	Documents     int               `json:"documents"` // N of the idf of documents
	Terms         []TermExplanation `json:"terms"`     // of the query that any chunk holds, what counts most first
	Missing       []string          `json:"missing"`   // terms of the query that no chunk holds
}

// TermExplanation is what one term of the query counts.
type TermExplanation struct {
	Term     string          `json:"term"`
	Weight   float64         `json:"weight"` // in the query
	Chunk    PartExplanation `json:"chunk"`
	Document PartExplanation `json:"document"`
}

// PartExplanation is what a term counts in a chunk, or in its document:
// weight · IDF · TF·(K1+1)/(TF+K1).
type PartExplanation struct {
	DF           int                `json:"df"`
	IDF          float64            `json:"idf"`
	TF           float64            `json:"tf"`           // sum of the fields
	Contribution float64            `json:"contribution"` // to the sum
	Fields       []FieldExplanation `json:"fields"`       // that hold the term
}

// FieldExplanation is what a field has part in a term's TF.
type FieldExplanation struct {
	Field        string  `json:"field"` // text, headings or title
	Occurrences  int     `json:"occurrences"`
	Length       int     `json:"length"`       // of the field, in terms
	Norm         float64 `json:"norm"`         // what occurrences are divided by for the length
	Weight       float64 `json:"weight"`       // of the field
	TF           float64 `json:"tf"`           // Weight · Occurrences / Norm
	Contribution float64 `json:"contribution"` // the term's, shared by TF
}
