package load

import (
	"slices"
	"strings"
)

// contactFields are the fields of a contact that are read, in this order, with their names.
var contactFields = [][2]string{
	{"FN", "Name"},
	{"NICKNAME", "Nickname"},
	{"ORG", "Organisation"},
	{"TITLE", "Title"},
	{"ROLE", "Role"},
	{"TEL", "Phone"},
	{"EMAIL", "Mail"},
	{"ADR", "Address"},
	{"URL", "Web"},
	{"BDAY", "Birthday"},
	{"ANNIVERSARY", "Anniversary"},
	{"CATEGORIES", "Categories"},
	{"NOTE", "Note"},
}

// readVCF writes each contact of a vCard file as a record: "Name: Ann; Phone (work): 12".
func (d *draft) readVCF() error { return d.readEntries("VCARD", contact) }

// contact returns the fields of a contact. Its name is that to be shown, else the family name behind the others.
func contact(_ string, card []contentLine) []string {
	var out []string
	if !slices.ContainsFunc(card, func(c contentLine) bool { return c.name == "FN" }) {
		for _, c := range card {
			if parts := c.parts(); c.name == "N" && len(parts) > 0 {
				out = append(out, "Name: "+strings.Join(append(parts[1:], parts[0]), " "))
			}
		}
	}
	for _, field := range contactFields {
		for _, c := range card {
			if c.name != field[0] {
				continue
			}
			value := strings.Join(c.parts(), ", ")
			switch c.name {
			case "TEL", "EMAIL":
				value = strings.TrimPrefix(strings.TrimPrefix(value, "tel:"), "mailto:")
			case "BDAY", "ANNIVERSARY":
				value = day(value)
			}
			if value != "" {
				out = append(out, field[1]+c.use()+": "+value)
			}
		}
	}
	return out
}

// use returns what a number or an address is for, in brackets: home, work, mobile.
func (c contentLine) use() string {
	var uses []string
	for use := range strings.SplitSeq(strings.ToLower(c.parameters["TYPE"]), ",") {
		word := map[string]string{"home": "home", "work": "work", "fax": "fax", "pager": "pager", "cell": "mobile"}[use]
		if word != "" {
			uses = append(uses, word)
		}
	}
	if uses == nil {
		return ""
	}
	return " (" + strings.Join(uses, ", ") + ")"
}
