package session

import (
	"reflect"
	"testing"

	"aalis/backend/text"
)

// Sentences are rendered when a frame is sent: no shape of the wire holds one that still is to be.
func TestWireTypesAreLocalized(t *testing.T) {
	t.Run("SP-I18N-15 every text field of the wire types is a string", func(t *testing.T) {
		seen := map[reflect.Type]bool{}
		var walk func(of reflect.Type, path string)
		walk = func(of reflect.Type, path string) {
			switch {
			case of == reflect.TypeFor[text.Text]() || of == reflect.TypeFor[text.Key]():
				t.Errorf("%s is a sentence that was not rendered", path)
			case seen[of]:
				return
			}
			seen[of] = true
			switch of.Kind() {
			case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
				walk(of.Elem(), path+"[]")
			case reflect.Struct:
				for i := range of.NumField() {
					walk(of.Field(i).Type, path+"."+of.Field(i).Name)
				}
			}
		}
		for _, shape := range Protocol.Contract.Methods {
			for _, of := range []reflect.Type{shape.Params, shape.Result} {
				walk(of, shape.Name)
			}
		}
		for _, n := range Protocol.Contract.Notifications {
			walk(n.Params, n.Name)
		}
		for union, variants := range Protocol.Contract.Unions {
			for _, v := range variants {
				walk(reflect.TypeOf(v), union.Name())
			}
		}
		if len(seen) < 80 {
			t.Errorf("only %d types were looked at", len(seen))
		}
	})
}
