package params_test

import (
	"encoding/json"
	"math/big"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/registry/internal/params"
)

func sameName() (a, b any) {
	type Item struct {
		X struct {
			Item string
		}
	}
	first := Item{}
	{
		type Item struct{ Y int }
		return first, Item{}
	}
}

func TestGenerateRefuses(t *testing.T) {
	itemA, itemB := sameName()
	clash := reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: reflect.TypeOf(itemA)},
		{Name: "B", Type: reflect.TypeOf(itemB)},
	})
	tests := []struct {
		name string
		of   reflect.Type
		want []string
	}{
		{"nil", nil, []string{"params: there is no type"}},
		{"an int root", reflect.TypeFor[int](), []string{"params: int: parameters must be a struct, not int"}},
		{"a slice root", reflect.TypeFor[[]string](), []string{"must be a struct"}},
		{"a map root", reflect.TypeFor[map[string]any](), []string{"must be a struct, not map"}},
		{"a pointer root", reflect.TypeFor[*node](), []string{"must be a struct, not a pointer"}},
		{"a time root", reflect.TypeFor[time.Time](), []string{"type"}},
		{"two types with one name", clash, []string{`would both be called "Item"`}},
		{"a function, a channel, an interface, a complex number", reflect.TypeFor[struct {
			F func()
			C chan int
			I error
			Z complex64
			U uintptr
			S struct{ Deep []func() }
		}](), []string{".F: a function has no JSON Schema", ".C: a channel", ".I: ", ".Z: complex64", ".U: uintptr", ".S.Deep[]: a function"}},
		{"a map with number keys", reflect.TypeFor[struct{ M map[int]string }](), []string{".M: a map needs plain string keys, not int"}},
		{"a map with text keys", reflect.TypeFor[struct{ M map[netip.Addr]string }](), []string{".M: a map needs"}},
		{"types that encode themselves", reflect.TypeFor[struct {
			A netip.Addr
			B *big.Int
			C upper
			D []net.IP
			E url.URL
		}](), []string{".A: netip.Addr encodes itself", ".B: big.Int encodes itself", ".C: ", ".D[]: net.IP", ".E: url.URL"}},
		{"time.Duration", reflect.TypeFor[struct{ Wait time.Duration }](), []string{".Wait: time.Duration has no encoding of its own; use an integer"}},
		{"json.Number", reflect.TypeFor[struct{ N json.Number }](), []string{".N: json.Number does not decode exactly"}},
		{"ambiguous embedded fields", reflect.TypeFor[struct {
			left
			right
		}](), []string{`.left.ID: another field is called "ID" too`, `.right.ID: another field is called "ID" too`}},
		{"a shadowed field", reflect.TypeFor[struct {
			base
			Mine string `json:"id"`
		}](), []string{`.base.ID: another field is called "id" too`}},
		{"names that differ by case", reflect.TypeFor[struct {
			A string `json:"id"`
			B string `json:"ID"`
		}](), []string{`differs from "id" only by case`}},
		{"a struct that embeds itself", reflect.TypeFor[selfEmbedding](), []string{"embeds itself"}},
		{"an embedded pointer that a decoder cannot set", reflect.TypeFor[struct{ *base }](), []string{".base"}},
		{"an embedded type that is no struct", reflect.TypeFor[struct{ color }](), []string{"embedded field that is not a struct"}},
		{"an embedded time", reflect.TypeFor[struct{ time.Time }](), []string{"encodes itself"}},
		{"inline", reflect.TypeFor[struct {
			F filter `json:"f,inline"`
		}](), []string{"the option inline is not supported"}},
		{"embed", reflect.TypeFor[struct {
			F map[string]any `json:",embed"`
		}](), []string{"the option embed is not supported"}},
		{"format and case", reflect.TypeFor[struct {
			A time.Time `json:"a,format:DateOnly"`
			B string    `json:"b,case:ignore"`
		}](), []string{"the option format", "the option case"}},
		{"string on a text", reflect.TypeFor[struct {
			A string `json:"a,string"`
		}](), []string{"the option string is only for numbers"}},
		{"the name dash", reflect.TypeFor[struct {
			A string `json:"-,"`
		}](), []string{`the name "-"`}},
		{"hidden from the schema only", reflect.TypeFor[struct {
			A string `json:"a" jsonschema:"-"`
		}](), []string{"could never be given"}},
		{"a misspelt option", reflect.TypeFor[struct {
			A string `json:"a,omitEmpty"`
		}](), []string{"omitEmpty"}},
		{"a nullable text", reflect.TypeFor[struct {
			A string `json:"a" jsonschema:"nullable"`
		}](), []string{"has to be a pointer"}},
		{"a slice and a map of themselves", reflect.TypeFor[struct {
			A loop
			B mapped
		}](), []string{".A[]: ", ".B[]: ", "contains itself"}},
		{"describing methods that do not describe", reflect.TypeFor[struct {
			A silent
			B raging
			C alias
			D leaky
		}](), []string{".A: the JSONSchema method", ".B: ", "panicked", ".C: ", "as another type", ".D: ", "sets $id"}},
		{"keywords without effect", reflect.TypeFor[struct {
			A string `jsonschema:"minimum=1"`
			B int    `jsonschema:"minLength=1"`
			C int    `jsonschema:"minimum=one"`
			D string `jsonschema:"description=one, two"`
			E filter `jsonschema:"minItems=1"`
			F int    `json:",string" jsonschema:"minimum=1"`
			G string `jsonschema:"maxLength=-1"`
			H bool   `jsonschema:"default=maybe"`
			I string `jsonschema:"type=integer"`
			J []int  `jsonschema:"uniqueItems=yes"`
			K string `jsonschema:"minlength=3"`
		}](), []string{".A: ", ".B: ", `.C: the jsonschema tag has "minimum=one", whose value`, `.D: the jsonschema tag has " two"`,
			".E: ", ".F: ", ".G: ", ".H: ", ".I: ", ".J: ", ".K: "}},
		{"contradicting limits", reflect.TypeFor[struct {
			A uint8 `jsonschema:"minimum=300"`
		}](), []string{"no value is between"}},
		{"an invalid default", reflect.TypeFor[struct {
			A int `json:"a" jsonschema:"minimum=5,default=1"`
		}](), []string{"the default at /properties/a is not allowed"}},
		{"an invalid pattern", reflect.TypeFor[struct {
			A string `json:"a" jsonschema:"pattern=(?=x)"`
		}](), []string{"only RE2 syntax"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw, err := params.Generate(tt.of)
			require.Error(t, err)
			require.Nil(t, raw)
			for _, want := range tt.want {
				require.ErrorContains(t, err, want)
			}
			for line := range strings.Lines(err.Error()) {
				require.True(t, strings.HasPrefix(line, "params: "), "%q", line)
			}
		})
	}
}

func TestGenerateJoinsFaults(t *testing.T) {
	_, err := params.Generate(reflect.TypeFor[struct {
		A chan int
		B func()
	}]())
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok)
	require.Len(t, joined.Unwrap(), 2)
}
