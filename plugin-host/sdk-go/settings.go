package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"

	"google.golang.org/protobuf/types/known/structpb"
)

type settings struct {
	schema *schema
	accept func(ctx context.Context, config *structpb.Struct) error
}

// Settings declares what a person may set under [plugins.NAME] of config.toml, as a struct with tags (see [Schema]), and
// what takes them: once before anything else, and whenever they change. An error says why they cannot be used: the start is
// refused with it, and later the old ones stay in force. [ErrRestart] asks for a new start.
func Settings[S any](p *Plugin, accept func(ctx context.Context, settings S) error) {
	if p.settings != nil {
		panic("plugin: Settings was called twice")
	}
	p.settings = &settings{
		schema: objectSchema(reflect.TypeFor[S]()),
		accept: func(ctx context.Context, config *structpb.Struct) error {
			var value S
			if err := decode(config, &value); err != nil {
				return Errorf(Invalid, "the settings do not fit: %w", err)
			}
			return accept(ctx, value)
		},
	}
}

// take gives true when the settings come into force at the next start.
func (s *settings) take(ctx context.Context, config *structpb.Struct) (restart bool, err error) {
	if s == nil {
		return false, nil
	}
	err = safely("Settings", func() error { return s.accept(ctx, config) })
	if errors.Is(err, ErrRestart) {
		return true, nil
	}
	return false, err
}

func decodeValue(value *structpb.Value, into any) error {
	text, err := json.Marshal(value.AsInterface())
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
