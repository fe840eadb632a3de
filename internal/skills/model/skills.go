package model

import (
	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/nodes"
)

// Skills are the skills of a turn that a model can do.
type Skills struct {
	Rewriter   nodes.Rewriter
	Grader     nodes.Grader
	Summarizer nodes.Summarizer
	Writer     nodes.Writer   // nil: none
	Verifier   nodes.Verifier // nil: none
}

// Setup says how models do the skills.
type Setup struct {
	Models     Models
	NoGrading  bool     // no model grades
	Verify     bool     // a model reads each statement of an answer again
	Checked    bool     // an agent shows nothing before it was checked
	Threshold  float64  // minimum grade that passes
	Transforms []string // names of [Transforms]
	Answers    Options
	Stats      Stats
	Custom     prompts.Set // custom prompts
}

// Skills returns skills that ask models. If a model fails, those of off do the work, which need none.
func (o Setup) Skills(off Skills) Skills {
	out := Skills{
		Grader: off.Grader,
		Writer: Writer{NewAnswerer(o.Models.For(TaskAnswer), o.Custom, o.Answers), o.Stats},
	}
	rewriter := NewRewriter(o.Models.For(TaskRewrite), off.Rewriter, o.Stats)
	rewriter.Custom = o.Custom
	out.Rewriter = rewriter
	if !o.NoGrading {
		g := NewGrader(o.Models.For(TaskGrade))
		g.Custom, g.Offline, g.Threshold = o.Custom, off.Grader, o.Threshold
		out.Grader = g
	}
	z := NewSummarizer(o.Models.For(TaskSummarise))
	z.Custom, z.Offline = o.Custom, off.Summarizer
	out.Summarizer = z
	if o.Verify {
		v := NewVerifier(o.Models.For(TaskVerify))
		v.Custom = o.Custom
		out.Verifier = v
	}
	for _, name := range o.Transforms {
		t := NewTransformer(o.Models.For(name, TaskTransform), out.Rewriter, []string{name})
		t.Custom = o.Custom
		out.Rewriter = t
	}
	return out
}
