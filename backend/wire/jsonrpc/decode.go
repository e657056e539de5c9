package jsonrpc

import (
	"fmt"
	"math"
	"reflect"
	"strings"
)

// maxSafe is the largest whole number that a double holds exactly, and so the largest that client and
// server read alike.
const maxSafe = 1<<53 - 1

// decode fills dst from a JSON tree as encoding/json makes it (map[string]any, []any, float64, …). Keys
// are matched by case and unknown ones passed over. The tree has passed the schema of dst's type; what
// still does not fit, such as a whole number too large, is an error that names the path.
func decode(path string, tree any, dst reflect.Value) error {
	if dst.Kind() == reflect.Interface && dst.NumMethod() == 0 {
		if tree != nil {
			dst.Set(reflect.ValueOf(tree))
		}
		return nil
	}
	switch dst.Kind() {
	case reflect.Pointer:
		dst.Set(reflect.New(dst.Type().Elem()))
		return decode(path, tree, dst.Elem())
	case reflect.Struct:
		if object, ok := tree.(map[string]any); ok {
			return decodeStruct(path, object, dst)
		}
	case reflect.Slice:
		if list, ok := tree.([]any); ok {
			dst.Set(reflect.MakeSlice(dst.Type(), len(list), len(list)))
			for i, entry := range list {
				if err := decode(fmt.Sprintf("%s[%d]", path, i), entry, dst.Index(i)); err != nil {
					return err
				}
			}
			return nil
		}
	case reflect.String:
		if s, ok := tree.(string); ok {
			dst.SetString(s)
			return nil
		}
	case reflect.Bool:
		if b, ok := tree.(bool); ok {
			dst.SetBool(b)
			return nil
		}
	case reflect.Int, reflect.Int64:
		if n, ok := tree.(float64); ok && n == math.Trunc(n) && math.Abs(n) <= maxSafe {
			dst.SetInt(int64(n))
			return nil
		}
	case reflect.Float64:
		if n, ok := tree.(float64); ok {
			dst.SetFloat(n)
			return nil
		}
	}
	return Refuse(InvalidParams, "wire.params-other", "path", path)
}

func decodeStruct(path string, object map[string]any, dst reflect.Value) error {
	for i := range dst.NumField() {
		name := wireName(dst.Type().Field(i))
		if value, given := object[name]; given {
			if err := decode(path+"."+name, value, dst.Field(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func wireName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// decodable panics for a params type that decode could never fill: a mistake of the program, found
// when the table is made.
func decodable(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		decodable(t.Elem())
		return
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); wireName(f) == "" || f.Anonymous || !f.IsExported() {
				panic("jsonrpc: " + t.String() + "." + f.Name + " has no wire name of its own")
			}
			decodable(t.Field(i).Type)
		}
		return
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return
		}
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
		return
	}
	panic("jsonrpc: params cannot hold a " + t.String())
}
