package offline

// scripts/learn-answers prints the numbers of this file.

// choice holds the coefficients of the conditional logit that ranks the sentences of all sources.
//
//nolint:gochecknoglobals // a constant table
var choice = features{
	ownWords: 2.70, stems: 8.88, before: 3.24, around: 0.81, headings: 5.91, wholePassage: -3.17, heaviest: -0.88, wording: 3.44,
	wordPairs: 2.02, nearNew: 3.66, density: 2.94, length: -0.62, position: 0.61, score: 2.24, isCode: 0.44, isListed: -0.94,
}

// shapeWords gives for words and pairs of words of a question the log odds that the answer is a number and
// that it is a name.
var shapeWords = map[string][2]float64{
	"who":       {-1.0, 2.0},
	"how":       {0.9, -1.8},
	"gì":        {-1.2, -0.7},
	"what":      {-0.7, -0.3},
	"in":        {0.7, 0.5},
	"when":      {1.3, -0.6},
	"year":      {2.4, -0.8},
	"was":       {0.9, 0.7},
	"ai":        {-0.6, 1.8},
	"the":       {0.4, 0.1},
	"nào":       {0.4, 0.7},
	"do":        {-0.6, -1.2},
	"khi":       {0.7, -1.1},
	"when did":  {1.9, -0.4},
	"bao":       {1.4, -0.1},
	"khi nào":   {2.3, -0.5},
	"có":        {-0.9, -0.7},
	"loại":      {-0.7, -1.0},
	"năm nào":   {2.1, -0.8},
	"bao nhiêu": {0.7, -0.7},
	"nhiêu":     {0.7, -0.7},
	"what did":  {-1.0, -0.7},
	"của":       {0.2, 0.5},
	"which":     {0.0, 1.0},
	"did":       {0.7, 0.2},
	"how many":  {0.7, -0.6},
	"vào":       {1.0, 0.3},
	"why":       {-0.8, -1.2},
	"when was":  {1.5, -0.4},
	"năm":       {0.7, 0.3},
	"trong":     {0.2, -0.6},
	"các":       {-0.2, -0.6},
	"what year": {1.4, -0.2},
	"name":      {-0.3, 1.4},
	"chính":     {-0.7, -0.7},
	"where":     {-0.8, 0.5},
	"type of":   {-0.9, -1.0},
	"is the":    {0.4, 0.1},
	"tên":       {-0.2, 1.0},
	"can":       {-0.6, -1.0},
}

var shapeIntercepts = [2]float64{-1.90, -0.80}

// gradeCoefficients belong to the logistic regression of the grade.
const gradeIntercept = -8.51

var gradeCoefficients = [numSigns]float64{
	bestSentence: 0.86, bestOwn: -0.30, bestPairs: 1.61, passageHeld: 2.82, passageWeight: 0.36, passageLead: 0.37, heaviestElsewhere: -0.55, heaviestMissing: -2.23, longQuestion: 1.23, indexSize: 0.32,
}
