package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"example.com/ragflow"
	"example.com/ragflow/search/index"
	"example.com/ragflow/search/rank"
)

// automatic stands for a value that others decide.
const automatic = "auto"

// retrievalFlagNames are the flags of settings that a single search may want to
// change.
func retrievalFlagNames() map[string]string {
	return map[string]string{"RETRIEVAL_PRESET": "preset", "RETRIEVAL_FUSION": "fusion", "RETRIEVAL_ALPHA": "alpha", "RETRIEVAL_WEIGHTS": "weights", "RERANKING": "rerank", "RETRIEVAL_GRAPH": "graph"}
}

// retrievalFlags adds them to a command.
func (a *app) retrievalFlags(flags *pflag.FlagSet) {
	usage := map[string]string{
		"preset":  "search as preset `NAME` says: " + strings.Join(ragflow.PresetNames(), ", "),
		"fusion":  "make one list of several by `METHOD`: " + strings.Join(rank.Methods(), ", "),
		"alpha":   "weight `N` of meaning, from 0 (words only) to 1 (meaning only)",
		"weights": "`WEIGHTS` of the legs, such as dense=0.7,lexical=0.3,graph=0; one of 0 is not asked",
		"graph":   "follow the links of the best documents over `HOPS`, 1 to 3, or off",
		"rerank":  "put the best passages in order by `METHOD`: " + strings.Join(ragflow.RerankMethods(), ", "),
	}
	for setting, name := range retrievalFlagNames() {
		flags.StringVar(a.retrievalFlag(setting), name, "", usage[name])
	}
}

// retrievalFlag is what the flag of a setting was given; one for all commands,
// of which one runs.
func (a *app) retrievalFlag(setting string) *string {
	if a.flags.retrieval == nil {
		a.flags.retrieval = map[string]*string{}
	}
	if a.flags.retrieval[setting] == nil {
		a.flags.retrieval[setting] = new(string)
	}
	return a.flags.retrieval[setting]
}

// dictionaryFlag adds --dictionary to a command that searches.
func (a *app) dictionaryFlag(flags *pflag.FlagSet) {
	flags.StringVar(&a.flags.dictionary, "dictionary", "", "search besides for what `FILE` says of words: lines such as \"leave: holiday, time off\", or YAML")
}

// retrievalSettings are the settings of how what the legs find becomes one list.
func retrievalSettings() (rows []setting, defaults map[string][]string) {
	rows = []setting{
		{
			name: "RETRIEVAL_PRESET", key: "retrieval_preset", allowed: "one of none, " + strings.Join(ragflow.PresetNames(), ", "),
			set: func(c *ragflow.Config, v []string) bool {
				if v[0] != "none" {
					c.Retrieval.Preset = v[0]
				}
				return v[0] == "none" || slices.Contains(ragflow.PresetNames(), v[0])
			},
		},
		{
			name: "RETRIEVAL_FUSION", key: "retrieval_fusion", allowed: "one of auto, " + strings.Join(rank.Methods(), ", "),
			set: func(c *ragflow.Config, v []string) bool {
				if v[0] == automatic {
					return true
				}
				c.Retrieval.Fusion.Method = v[0]
				return slices.Contains(rank.Methods(), v[0])
			},
		},
		{
			name: "RETRIEVAL_ALPHA", key: "retrieval_alpha", allowed: "a number from 0 (words only) to 1 (meaning only), or auto",
			set: func(c *ragflow.Config, v []string) bool { return v[0] == automatic || alpha(&c.Dense, v[0]) },
		},
		{
			name: "RETRIEVAL_WEIGHTS", key: "retrieval_weights", allowed: "weights such as dense=0.7,lexical=0.3,graph=0, or auto",
			set: func(c *ragflow.Config, v []string) bool {
				return v[0] == automatic || weights(&c.Retrieval.Weights, v[0])
			},
		},
		{
			name: "RETRIEVAL_GRAPH", key: "retrieval_graph", allowed: "auto, off, or 1, 2 or 3 hops",
			set: func(c *ragflow.Config, v []string) bool {
				switch v[0] {
				case automatic:
					return true
				case "off":
					c.Retrieval.Hops = -1
					return true
				}
				hops, err := strconv.Atoi(v[0])
				c.Retrieval.Hops = hops
				return err == nil && hops > 0 && hops <= index.MostHops
			},
		},
		{
			name: "RETRIEVAL_MULTI_SOURCE", key: "retrieval_multi_source", allowed: "a number from 1 (off) to 10",
			set: func(c *ragflow.Config, v []string) bool {
				f, err := strconv.ParseFloat(v[0], 64)
				c.Retrieval.Fusion.MultiSource = f
				return err == nil && f >= 1 && f <= 10
			},
		},
		{
			name: "RETRIEVAL_THRESHOLD", key: "retrieval_threshold", allowed: "a number above 0 and up to 1, or off",
			set: func(c *ragflow.Config, v []string) bool {
				c.Retrieval.Fusion.Threshold = -1
				return v[0] == "off" || fraction(&c.Retrieval.Fusion.Threshold, v[0])
			},
		},
		{
			name: "RERANKING", key: "reranking", allowed: "one of " + strings.Join(ragflow.RerankMethods(), ", "),
			set: func(c *ragflow.Config, v []string) bool { c.Retrieval.Rerank = v[0]; return true }, // Open checks it
		},
	}
	return rows, map[string][]string{
		"RETRIEVAL_PRESET":       {"none"},
		"RETRIEVAL_FUSION":       {automatic},
		"RETRIEVAL_ALPHA":        {automatic},
		"RETRIEVAL_WEIGHTS":      {automatic},
		"RETRIEVAL_GRAPH":        {automatic},
		"RETRIEVAL_MULTI_SOURCE": {fmt.Sprint(rank.DefaultMultiSource)},
		"RETRIEVAL_THRESHOLD":    {fmt.Sprint(rank.DefaultThreshold)},
	}
}

// alpha reads the weight of the dense leg; at its ends one leg searches alone.
func alpha(d *ragflow.Dense, text string) bool {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsNaN(f) || f < 0 || f > 1:
		return false
	case f == 0:
		d.Leg = ragflow.LegLexical
	case f == 1:
		d.Leg = ragflow.LegDense
	default:
		d.Alpha = f
	}
	return true
}

// weights reads "dense=0.7,lexical=0.3"; a leg that is not named has 0. One must
// have more.
func weights(w *ragflow.Weights, text string) bool {
	legs := map[string]*float64{ragflow.LegDense: &w.Dense, ragflow.LegLexical: &w.Lexical, ragflow.LegGraph: &w.Graph}
	all := 0.0
	for part := range strings.SplitSeq(text, ",") {
		leg, number, _ := strings.Cut(part, "=")
		f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		to := legs[strings.TrimSpace(leg)]
		if err != nil || to == nil || !(f >= 0) || math.IsInf(f, 1) {
			return false
		}
		*to = f
		all += f
	}
	return all > 0
}
