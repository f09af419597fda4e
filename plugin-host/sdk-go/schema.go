package plugin

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// schema is the part of JSON Schema that Go types and their tags can say.
type schema struct {
	Type            string      `json:"type,omitempty"`
	Description     string      `json:"description,omitempty"`
	Format          string      `json:"format,omitempty"`
	ContentEncoding string      `json:"contentEncoding,omitempty"`
	Enum            []any       `json:"enum,omitempty"`
	Default         any         `json:"default,omitempty"`
	Minimum         *float64    `json:"minimum,omitempty"`
	Maximum         *float64    `json:"maximum,omitempty"`
	MinLength       *int        `json:"minLength,omitempty"`
	MaxLength       *int        `json:"maxLength,omitempty"`
	Pattern         string      `json:"pattern,omitempty"`
	Items           *schema     `json:"items,omitempty"`
	MinItems        *int        `json:"minItems,omitempty"`
	MaxItems        *int        `json:"maxItems,omitempty"`
	Properties      *properties `json:"properties,omitempty"`
	Required        []string    `json:"required,omitempty"`
	// Additional is false for a struct and a schema for a map; nil says nothing.
	Additional any `json:"additionalProperties,omitempty"`
}

// properties keep the order of a struct's fields.
type properties struct {
	names   []string
	schemas []*schema
}

func (p *properties) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	text.WriteByte('{')
	for i, name := range p.names {
		if i > 0 {
			text.WriteByte(',')
		}
		for _, piece := range []any{name, p.schemas[i]} {
			encoded, err := marshal(piece)
			if err != nil {
				return nil, err
			}
			if piece == any(name) {
				encoded = append(encoded, ':')
			}
			text.Write(encoded)
		}
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

// marshal leaves < > & as they are: nothing here goes into a web page.
func marshal(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// Schema gives the JSON schema of a type, as [Tool] and [Settings] make it. Beside `json`, a field may have these tags:
//
//	description:"Whom to greet"          what it is, for the model
//	enum:"asc,desc"                      the values that it may have
//	default:"10"                         its value where none is given; makes it optional
//	minimum:"1" maximum:"100"            of a number
//	minLength:"1" maxLength:"80"         of a text
//	pattern:"^[a-z]+$"                   of a text
//	minItems:"1" maxItems:"5"            of a list
//
// A field must be given unless it is a pointer, has `omitempty` or `omitzero`, or a default. Nothing else may be given. It panics
// on what JSON cannot hold, and on a tag that fits no field of its type.
func Schema[T any]() json.RawMessage {
	text, err := marshal(objectSchema(reflect.TypeFor[T]()))
	if err != nil {
		panic(err)
	}
	return text
}

func objectSchema(of reflect.Type) *schema {
	made := typeSchema(of, nil)
	if made.Type != "object" {
		panic(fmt.Sprintf("plugin: arguments and settings are a struct or a map, not %s", of))
	}
	return made
}

var (
	textType     = reflect.TypeFor[encoding.TextMarshaler]()
	jsonType     = reflect.TypeFor[json.Marshaler]()
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
)

func typeSchema(of reflect.Type, inside []reflect.Type) *schema {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case of == timeType:
		return &schema{Type: "string", Format: "date-time"}
	case of == durationType:
		panic("plugin: JSON has no time.Duration: take a number, with its unit in its name")
	case of.Implements(jsonType):
		return &schema{}
	case of.Implements(textType):
		return &schema{Type: "string"}
	}
	switch of.Kind() {
	case reflect.String:
		return &schema{Type: "string"}
	case reflect.Bool:
		return &schema{Type: "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &schema{Type: "integer"}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &schema{Type: "integer", Minimum: new(float64)}
	case reflect.Float32, reflect.Float64:
		return &schema{Type: "number"}
	case reflect.Interface:
		return &schema{}
	case reflect.Slice:
		if of.Elem().Kind() == reflect.Uint8 {
			return &schema{Type: "string", ContentEncoding: "base64"}
		}
		return &schema{Type: "array", Items: typeSchema(of.Elem(), inside)}
	case reflect.Array:
		length := of.Len()
		return &schema{Type: "array", Items: typeSchema(of.Elem(), inside), MinItems: &length, MaxItems: &length}
	case reflect.Map:
		return mapSchema(of, inside)
	case reflect.Struct:
		return structSchema(of, inside)
	}
	panic(fmt.Sprintf("plugin: JSON cannot hold a %s", of))
}

func mapSchema(of reflect.Type, inside []reflect.Type) *schema {
	if of.Key().Kind() != reflect.String {
		panic(fmt.Sprintf("plugin: the keys of a JSON object are texts, so it cannot hold a %s", of))
	}
	made := &schema{Type: "object"}
	if of.Elem().Kind() != reflect.Interface {
		made.Additional = typeSchema(of.Elem(), inside)
	}
	return made
}

func structSchema(of reflect.Type, inside []reflect.Type) *schema {
	for _, outer := range inside {
		if outer == of {
			panic(fmt.Sprintf("plugin: %s holds itself, which a schema of finite size cannot say", of))
		}
	}
	made := &schema{Type: "object", Properties: &properties{}, Additional: false}
	addFields(made, of, append(inside[:len(inside):len(inside)], of))
	return made
}

func addFields(made *schema, of reflect.Type, inside []reflect.Type) {
	for i := range of.NumField() {
		field := of.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" && options == "" {
			continue
		}
		if field.Anonymous && name == "" && field.Type.Kind() == reflect.Struct && !field.Type.Implements(jsonType) {
			addFields(made, field.Type, inside)
			continue
		}
		if !field.IsExported() {
			continue
		}
		if name == "" {
			name = field.Name
		}
		property := typeSchema(field.Type, inside)
		addTags(property, of.Name()+"."+field.Name, field)
		made.Properties.names = append(made.Properties.names, name)
		made.Properties.schemas = append(made.Properties.schemas, property)
		optional := field.Type.Kind() == reflect.Pointer || strings.Contains(options, "omit") || property.Default != nil
		if !optional {
			made.Required = append(made.Required, name)
		}
	}
}

func addTags(property *schema, where string, field reflect.StructField) {
	read := func(key string, fits bool, take func(text string) error) {
		text, ok := field.Tag.Lookup(key)
		if !ok {
			return
		}
		if !fits {
			panic(fmt.Sprintf("plugin: %s: the tag %s fits no %s", where, key, field.Type))
		}
		if err := take(text); err != nil {
			panic(fmt.Sprintf("plugin: %s: the tag %s:%q: %v", where, key, text, err))
		}
	}
	isNumber := property.Type == "integer" || property.Type == "number"
	isText, isList := property.Type == "string", property.Type == "array"
	number := func(into **float64) func(string) error {
		return func(text string) error {
			value, err := strconv.ParseFloat(text, 64)
			*into = &value
			return err
		}
	}
	count := func(into **int) func(string) error {
		return func(text string) error {
			value, err := strconv.Atoi(text)
			*into = &value
			return err
		}
	}
	read("description", true, func(text string) error { property.Description = text; return nil })
	read("minimum", isNumber, number(&property.Minimum))
	read("maximum", isNumber, number(&property.Maximum))
	read("minLength", isText, count(&property.MinLength))
	read("maxLength", isText, count(&property.MaxLength))
	read("pattern", isText, func(text string) error { property.Pattern = text; return nil })
	read("minItems", isList, count(&property.MinItems))
	read("maxItems", isList, count(&property.MaxItems))
	read("enum", isText || isNumber, func(text string) error {
		for _, one := range strings.Split(text, ",") {
			value, err := literal(property.Type, one)
			if err != nil {
				return err
			}
			property.Enum = append(property.Enum, value)
		}
		return nil
	})
	read("default", isText || isNumber || property.Type == "boolean", func(text string) (err error) {
		property.Default, err = literal(property.Type, text)
		return err
	})
}

// literal reads what a tag says as a value of a type of JSON.
func literal(kind, text string) (any, error) {
	switch kind {
	case "integer":
		return strconv.ParseInt(text, 10, 64)
	case "number":
		return strconv.ParseFloat(text, 64)
	case "boolean":
		return strconv.ParseBool(text)
	default:
		return text, nil
	}
}

// setDefaults fills in what the tags of a struct say; what is read over it replaces them.
func setDefaults(value reflect.Value) {
	if value.Kind() != reflect.Struct {
		return
	}
	for i := range value.NumField() {
		field, target := value.Type().Field(i), value.Field(i)
		text, ok := field.Tag.Lookup("default")
		if !ok || !target.CanSet() {
			setDefaults(target)
			continue
		}
		if target.Kind() == reflect.Pointer {
			target.Set(reflect.New(target.Type().Elem()))
			target = target.Elem()
		}
		setLiteral(target, text)
	}
}

// setLiteral sets what literal has read before, when the schema was made.
func setLiteral(target reflect.Value, text string) {
	switch target.Kind() {
	case reflect.String:
		target.SetString(text)
	case reflect.Bool:
		value, _ := strconv.ParseBool(text)
		target.SetBool(value)
	case reflect.Float32, reflect.Float64:
		value, _ := strconv.ParseFloat(text, 64)
		target.SetFloat(value)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		value, _ := strconv.ParseUint(text, 10, 64)
		target.SetUint(value)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		value, _ := strconv.ParseInt(text, 10, 64)
		target.SetInt(value)
	}
}
