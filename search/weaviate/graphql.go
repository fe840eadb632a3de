package weaviate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weaviate/weaviate/entities/models"

	"example.com/ragflow/internal/remote"
)

// object holds the properties of an object that a query returned.
type object map[string]any

func (o object) text(property string) string    { s, _ := o[property].(string); return s }
func (o object) number(property string) float64 { n, _ := o[property].(float64); return n }
func (o object) whole(property string) int64    { return int64(o.number(property)) }

// additional returns a number or text that the server computed, such as a score.
func (o object) additional(name string) object {
	a, _ := o["_additional"].(map[string]any)
	if s, ok := a[name].(string); ok && name == "score" { // a number that is sent as a text
		f, _ := strconv.ParseFloat(s, 64)
		return object{name: f}
	}
	return a
}

func (o object) id() string { return o.additional("id").text("id") }

// graphql sends a query and returns the data below the first field, Get or Aggregate.
func (db *store) graphql(ctx context.Context, query string) (map[string]any, error) {
	for until := time.Now().Add(makingTime); ; {
		r, err := db.client.GraphQL().Raw().WithQuery("{" + query + "}").Do(ctx)
		if err != nil {
			return nil, db.explain(ctx, err)
		}
		if len(r.Errors) == 0 {
			return fieldsOf(r.Data, db.address)
		}
		why := r.Errors[0].Message
		if !isMade(why) || time.Now().After(until) {
			return nil, cmp.Or(context.Cause(ctx), fmt.Errorf("the server Weaviate at %s: %s", db.address, why))
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// makingTime is how long the server may take to make a class that another process has asked for.
const makingTime = 5 * time.Second

// isMade reports whether an error means that a class is being made: the server knows it, and cannot answer yet.
func isMade(why string) bool {
	return strings.Contains(why, "non-existing index") || strings.Contains(why, "Cannot query field") && strings.Contains(why, `ObjectsObj"`)
}

// fieldsOf returns the fields of an answer.
func fieldsOf(answer map[string]models.JSONObject, address string) (map[string]any, error) {
	for _, data := range answer {
		if fields, ok := data.(map[string]any); ok {
			return fields, nil
		}
	}
	return nil, errors.New("Weaviate at " + address + " gave an answer without data")
}

// objects returns the objects of a class in an answer.
func (db *store) objects(answer map[string]any, class string) []object {
	list, _ := answer[db.prefix+class].([]any)
	out := make([]object, len(list))
	for i := range list {
		out[i], _ = list[i].(map[string]any)
	}
	return out
}

// get returns the objects that pass a filter, at most remote.MaxChunks.
func (db *store) get(ctx context.Context, class, where, properties string) ([]object, error) {
	answer, err := db.graphql(ctx, "Get{"+db.fields(class, remote.MaxChunks, where, "", properties)+"}")
	return db.objects(answer, class), err
}

// all calls f for every object of a class.
func (db *store) all(ctx context.Context, class, properties string, f func(object) error) error {
	const page = 1000
	for after := ""; ; {
		answer, err := db.graphql(ctx, "Get{"+db.fields(class, page, "", "after:"+quote(after), properties+" _additional{id}")+"}")
		if err != nil {
			return err
		}
		list := db.objects(answer, class)
		for _, o := range list {
			if err := f(o); err != nil {
				return err
			}
			after = o.id()
		}
		if len(list) < page {
			return nil
		}
	}
}

// fields returns the part of a query that asks for objects of a class.
func (db *store) fields(class string, limit int, where, order, properties string) string {
	if where != "" {
		where = "where:" + where
	}
	if db.consistency != "" && !strings.HasPrefix(order, "after:") {
		order += " consistencyLevel:" + db.consistency
	}
	return fmt.Sprintf("%s%s(limit:%d %s %s){%s}", db.prefix, class, limit, where, order, properties)
}

// quote formats a text for GraphQL, whose escapes are those of JSON. Invalid UTF-8 is replaced.
func quote(s string) string {
	out, _ := json.Marshal(s) // a text has no error
	return string(out)
}

// is returns the filter for a property with one of some values.
func is(property string, values ...string) string {
	list, _ := json.Marshal(values) // texts have no error
	return fmt.Sprintf(`{path:["%s"] operator:ContainsAny valueText:%s}`, property, list)
}

// and returns the filter for objects that pass all filters; empty ones are ignored.
func and(filters ...string) string {
	var kept []string
	for _, f := range filters {
		if f != "" {
			kept = append(kept, f)
		}
	}
	if len(kept) < 2 {
		return strings.Join(kept, "")
	}
	return "{operator:And operands:[" + strings.Join(kept, " ") + "]}"
}
