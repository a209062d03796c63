package params

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// rule is a schema reduced to the keywords that most schemas of tools consist
// of. It answers only one question, whether a value is certainly allowed; the
// full validator judges everything else, so that a rule may give up wherever
// exactness would need more than it has.
type rule struct {
	types      uint8 // 0: any
	chosen     map[any]bool
	format     *jsonschema.Format
	pattern    jsonschema.Regexp
	minLength  int
	maxLength  int
	integer    [2]int64   // the least and the greatest
	real       [2]float64 // beyond which a value has to lie strictly inside
	properties map[string]*rule
	required   []string
	closed     bool
	others     *rule
	minMembers int
	maxMembers int
	items      *rule
	minItems   int
	maxItems   int
	also       *rule // what the schema refers to
}

const (
	typeNull uint8 = 1 << iota
	typeBoolean
	typeNumber
	typeInteger
	typeString
	typeArray
	typeObject
)

var typeBits = map[string]uint8{
	"null": typeNull, "boolean": typeBoolean, "number": typeNumber | typeInteger, "integer": typeInteger,
	"string": typeString, "array": typeArray, "object": typeObject,
}

// planQuick returns the rule of a schema, or nil if some part of it is beyond
// what rules express.
func planQuick(s *jsonschema.Schema) *rule {
	p := quickPlanner{rules: map[*jsonschema.Schema]*rule{}}
	if r := p.plan(s); !p.beyond {
		return r
	}
	return nil
}

type quickPlanner struct {
	rules  map[*jsonschema.Schema]*rule
	beyond bool
}

func (p *quickPlanner) plan(s *jsonschema.Schema) *rule {
	if s == nil {
		return nil
	}
	if r, ok := p.rules[s]; ok || p.beyond {
		return r
	}
	r := &rule{}
	p.rules[s] = r
	if s.Bool != nil {
		p.beyond = !*s.Bool
		*r = unlimited()
		return r
	}
	if s.RecursiveRef != nil || s.DynamicRef != nil || s.Not != nil || s.AllOf != nil || s.AnyOf != nil ||
		s.OneOf != nil || s.If != nil || s.Const != nil || s.PatternProperties != nil ||
		s.Dependencies != nil || s.DependentRequired != nil || s.DependentSchemas != nil ||
		s.UnevaluatedProperties != nil || s.UnevaluatedItems != nil || s.UniqueItems || s.Contains != nil ||
		s.AdditionalItems != nil || s.PrefixItems != nil || s.ContentSchema != nil || s.MultipleOf != nil ||
		len(s.Extensions) > 0 {
		p.beyond = true
		return r
	}
	*r = unlimited()
	if s.Ref != nil {
		r.also = p.plan(s.Ref)
		if s.DraftVersion < 2019 {
			return r
		}
		// Two ways into a value would double the work at every level.
		p.beyond = p.beyond || s.Properties != nil || s.AdditionalProperties != nil || s.Items != nil || s.Items2020 != nil
	}
	if s.Types != nil {
		for _, name := range s.Types.ToStrings() {
			r.types |= typeBits[name]
		}
	}
	p.planChoices(r, s.Enum)
	r.format, r.pattern = s.Format, s.Pattern
	r.integer, r.real = bounds(s)
	limit(&r.minLength, s.MinLength)
	limit(&r.maxLength, s.MaxLength)
	limit(&r.minMembers, s.MinProperties)
	limit(&r.maxMembers, s.MaxProperties)
	limit(&r.minItems, s.MinItems)
	limit(&r.maxItems, s.MaxItems)
	r.required = s.Required
	p.planMembers(r, s)
	r.items = p.plan(s.Items2020)
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		r.items = p.plan(items)
	case []*jsonschema.Schema:
		p.beyond = true
	}
	return r
}

func (p *quickPlanner) planMembers(r *rule, s *jsonschema.Schema) {
	r.properties = make(map[string]*rule, len(s.Properties))
	for name, property := range s.Properties {
		r.properties[name] = p.plan(property)
	}
	switch additional := s.AdditionalProperties.(type) {
	case bool:
		r.closed = !additional
	case *jsonschema.Schema:
		r.others = p.plan(additional)
	}
}

// planChoices takes choices that can be compared by their spelling.
func (p *quickPlanner) planChoices(r *rule, enum *jsonschema.Enum) {
	if enum == nil {
		return
	}
	r.chosen = make(map[any]bool, len(enum.Values))
	for _, value := range enum.Values {
		switch value.(type) {
		case string, bool, nil, json.Number:
			r.chosen[value] = true
		default:
			p.beyond = true
		}
	}
}

func unlimited() rule {
	return rule{
		maxLength: math.MaxInt, maxMembers: math.MaxInt, maxItems: math.MaxInt,
		integer: [2]int64{math.MinInt64, math.MaxInt64},
		real:    [2]float64{math.Inf(-1), math.Inf(1)},
	}
}

func limit(to *int, from *int) {
	if from != nil {
		*to = *from
	}
}

// bounds reduces the four limits of a number to an inclusive range of integers
// and an exclusive range of binary64 numbers, both inside the exact range.
func bounds(s *jsonschema.Schema) (integer [2]int64, real [2]float64) {
	integer = [2]int64{math.MinInt64, math.MaxInt64}
	real = [2]float64{math.Inf(-1), math.Inf(1)}
	for _, low := range []*big.Rat{s.Minimum, s.ExclusiveMinimum} {
		if low == nil {
			continue
		}
		f, _ := low.Float64()
		real[0] = max(real[0], f)
		least := new(big.Int).Div(low.Num(), low.Denom()) // the floor
		if low == s.ExclusiveMinimum || !low.IsInt() {
			least.Add(least, big.NewInt(1))
		}
		integer = within(integer, least, nil)
	}
	for _, high := range []*big.Rat{s.Maximum, s.ExclusiveMaximum} {
		if high == nil {
			continue
		}
		f, _ := high.Float64()
		real[1] = min(real[1], f)
		greatest := new(big.Int).Div(high.Num(), high.Denom())
		if high == s.ExclusiveMaximum && high.IsInt() {
			greatest.Sub(greatest, big.NewInt(1))
		}
		integer = within(integer, nil, greatest)
	}
	return integer, real
}

// within narrows a range; one that leaves int64 becomes empty.
func within(r [2]int64, least, greatest *big.Int) [2]int64 {
	switch {
	case least != nil && least.IsInt64():
		r[0] = max(r[0], least.Int64())
	case greatest != nil && greatest.IsInt64():
		r[1] = min(r[1], greatest.Int64())
	case least != nil && least.Sign() > 0, greatest != nil && greatest.Sign() < 0:
		return [2]int64{1, 0}
	}
	return r
}

// accepts reports whether the rule certainly allows value. A false answer
// means nothing.
func (r *rule) accepts(value any, depth int) bool {
	if r.also != nil && (depth > 2*maxSchemaDepth || !r.also.accepts(value, depth+1)) {
		return false
	}
	if r.chosen != nil {
		switch value.(type) {
		case map[string]any, []any:
			return false
		}
		if !r.chosen[value] {
			return false
		}
	}
	if r.format != nil && r.format.Validate(value) != nil {
		return false
	}
	switch v := value.(type) {
	case map[string]any:
		return r.allows(typeObject) && r.acceptsObject(v, depth)
	case []any:
		return r.allows(typeArray) && r.acceptsArray(v, depth)
	case string:
		return r.allows(typeString) && r.acceptsString(v)
	case json.Number:
		return r.acceptsNumber(v)
	case bool:
		return r.allows(typeBoolean)
	case nil:
		return r.allows(typeNull)
	}
	return false
}

func (r *rule) allows(t uint8) bool { return r.types == 0 || r.types&t != 0 }

func (r *rule) acceptsObject(members map[string]any, depth int) bool {
	if len(members) < r.minMembers || len(members) > r.maxMembers {
		return false
	}
	for _, name := range r.required {
		if _, ok := members[name]; !ok {
			return false
		}
	}
	for name, member := range members {
		next, declared := r.properties[name]
		if !declared {
			if r.closed {
				return false
			}
			next = r.others
		}
		if next != nil && !next.accepts(member, depth+1) {
			return false
		}
	}
	return true
}

func (r *rule) acceptsArray(items []any, depth int) bool {
	if len(items) < r.minItems || len(items) > r.maxItems {
		return false
	}
	if r.items != nil {
		for _, item := range items {
			if !r.items.accepts(item, depth+1) {
				return false
			}
		}
	}
	return true
}

func (r *rule) acceptsString(text string) bool {
	if r.minLength > 0 || r.maxLength < math.MaxInt {
		if n := utf8.RuneCountInString(text); n < r.minLength || n > r.maxLength {
			return false
		}
	}
	return r.pattern == nil || r.pattern.MatchString(text)
}

func (r *rule) acceptsNumber(number json.Number) bool {
	if n, err := strconv.ParseInt(string(number), 10, 64); err == nil {
		return r.allows(typeInteger) && n >= r.integer[0] && n <= r.integer[1]
	}
	f, err := strconv.ParseFloat(string(number), 64)
	return err == nil && r.allows(typeNumber) && f > r.real[0] && f < r.real[1]
}
