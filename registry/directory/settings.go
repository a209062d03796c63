package directory

import (
	"fmt"
	"slices"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/registry"
)

// Ceiling sets the highest mode that a model may attempt.
type Ceiling struct {
	Ceiling string `json:"ceiling" jsonschema:"enum=read,enum=propose,enum=execute"`
}

// Disabling turns a tool off or on for all models.
type Disabling struct {
	Tool     string `json:"tool"`
	Disabled bool   `json:"disabled"`
}

// Switch turns standing grants on or off.
type Switch struct {
	On bool `json:"on"`
}

func (d *directory) settings() []*registry.Action {
	return []*registry.Action{
		define(d, "directory_set_ceiling", "Set the highest mode that any model may attempt in this scope. It holds from the next call on.",
			"Set the ceiling for models to {ceiling}.", EditSettings,
			func(f *authz.Facts, p Ceiling, _ registry.Current) (string, error) {
				if err := f.Settings.Ceiling.UnmarshalText([]byte(p.Ceiling)); err != nil {
					return "", refuse("%v", err)
				}
				return "ceiling: " + p.Ceiling, nil
			}),
		define(d, "directory_disable_tool", "Turn one tool off, or on again, for all models of this scope. It holds from the next call on.",
			"Set whether {tool} is disabled to {disabled}.", EditSettings,
			func(f *authz.Facts, p Disabling, _ registry.Current) (string, error) {
				if _, err := d.tool(p.Tool); err != nil && p.Disabled {
					return "", err
				}
				f.Settings.Disabled = slices.DeleteFunc(f.Settings.Disabled, func(name string) bool { return name == p.Tool })
				if p.Disabled {
					f.Settings.Disabled = append(f.Settings.Disabled, p.Tool)
				}
				return fmt.Sprintf("%s disabled: %t", p.Tool, p.Disabled), nil
			}),
		define(d, "directory_switch_standing", "Turn standing grants on or off in this scope. While they are off every change waits for a person.",
			"Set whether standing grants are on to {on}.", EditSettings,
			func(f *authz.Facts, p Switch, _ registry.Current) (string, error) {
				f.Settings.Standing = p.On
				return fmt.Sprintf("standing grants on: %t", p.On), nil
			}),
	}
}
