package pages

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/sallyport-dev/sallyport/approval/console/internal/web"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
	"github.com/sallyport-dev/sallyport/registry/directory"
)

// edit is one change of directory or settings that a form can make: the parameters of its action, the sentence that
// asks for confirmation, and the screen to go back to.
type edit struct {
	params func(url.Values) (any, error)
	say    func(words, url.Values) string
	back   string
}

// asks is the sentence of a text that has the form's fields as its values.
func asks(text string, fields ...string) func(words, url.Values) string {
	return func(w words, v url.Values) string {
		args := make([]any, len(fields))
		for i, f := range fields {
			if args[i] = visible(v.Get(f)); f == "ceiling" || f == "effect" {
				args[i] = w.word(v.Get(f))
			}
		}
		return w.Say(text, args...)
	}
}

// yes reads a choice between two.
func yes(text string) (bool, error) { return strconv.ParseBool(text) }

// list splits at commas; a name may have spaces in it.
func list(text string) []string {
	names := []string{}
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

var edits = map[string]edit{
	"directory_set_ceiling": {
		func(v url.Values) (any, error) { return directory.Ceiling{Ceiling: v.Get("ceiling")}, nil },
		asks("Set the ceiling for every model of this scope to “{ceiling}”.", "ceiling"), "settings",
	},
	"directory_disable_tool": {
		func(v url.Values) (any, error) {
			off, err := yes(v.Get("disabled"))
			return directory.Disabling{Tool: v.Get("tool"), Disabled: off}, err
		},
		func(w words, v url.Values) string {
			if v.Get("disabled") == "true" {
				return asks("Disable the tool “{tool}” for every model. Open proposals of it cannot be approved meanwhile.", "tool")(w, v)
			}
			return asks("Enable the tool “{tool}” again.", "tool")(w, v)
		}, "settings",
	},
	"directory_switch_standing": {
		func(v url.Values) (any, error) { on, err := yes(v.Get("on")); return directory.Switch{On: on}, err },
		func(w words, v url.Values) string {
			if v.Get("on") == "true" {
				return w.Say("Turn standing grants on: what they cover runs without a click, in the name of whoever gave them.")
			}
			return w.Say("Turn standing grants off: every change waits for a person.")
		}, "settings",
	},
	"directory_set_grant": {
		func(v url.Values) (any, error) {
			return directory.Grant{Model: v.Get("model"), Tool: v.Get("tool"), Effect: v.Get("effect")}, nil
		},
		asks("Set the grant of the tool “{tool}” to the model “{model}” to “{effect}”.", "tool", "model", "effect"), "tools",
	},
	"directory_give_standing": {
		func(v url.Values) (any, error) {
			hours, err := strconv.Atoi(v.Get("hours"))
			if err != nil {
				return nil, err
			}
			uses, err := strconv.Atoi(v.Get("uses"))
			return directory.Standing{
				Model: v.Get("model"), Tool: v.Get("tool"), Hours: hours, Uses: uses, Below: v.Get("below"), AskOnly: v.Get("ask_only") == "true",
			}, err
		},
		func(w words, v url.Values) string {
			fields, unlimited := []string{"model", "tool", "below", "uses", "hours"}, []string{"model", "tool", "below", "hours"}
			n, _ := strconv.Atoi(v.Get("uses"))
			switch often, also := n != 0, v.Get("ask_only") == "true"; {
			case often && also:
				return asks("Approve in advance, in your own name: the model “{model}” may use “{tool}” below “{below}” {uses} times, for {hours} hours, also for people who may only ask for it.", fields...)(w, v)
			case often:
				return asks("Approve in advance, in your own name: the model “{model}” may use “{tool}” below “{below}” {uses} times, for {hours} hours, for people who may do it themselves.", fields...)(w, v)
			case also:
				return asks("Approve in advance, in your own name: the model “{model}” may use “{tool}” below “{below}” any number of times, for {hours} hours, also for people who may only ask for it.", unlimited...)(w, v)
			}
			return asks("Approve in advance, in your own name: the model “{model}” may use “{tool}” below “{below}” any number of times, for {hours} hours, for people who may do it themselves.", unlimited...)(w, v)
		}, "tools",
	},
	"directory_revoke_standing": {
		func(v url.Values) (any, error) {
			return directory.Revocation{Model: v.Get("model"), Grant: v.Get("grant")}, nil
		},
		asks("Take the standing grant “{grant}” away from the model “{model}”. It holds at once.", "grant", "model"), "tools",
	},
	"mcp_add_server": {
		func(v url.Values) (any, error) {
			return map[string]string{"name": v.Get("name"), "address": v.Get("address")}, nil
		},
		asks("Add the MCP server “{name}” at “{address}”. Nothing of it is available before it is accepted.", "name", "address"), "servers",
	},
	"mcp_accept_server": {
		func(v url.Values) (any, error) {
			return map[string]string{"name": v.Get("name"), "digest": v.Get("digest")}, nil
		},
		asks("Accept all tools of the MCP server “{name}” in the form that has the digest “{digest}”.", "name", "digest"), "servers",
	},
	"mcp_remove_server": {
		func(v url.Values) (any, error) { return map[string]string{"name": v.Get("name")}, nil },
		asks("Remove the MCP server “{name}” and all its tools.", "name"), "servers",
	},
	"directory_create_model": {
		func(v url.Values) (any, error) {
			return directory.NewModel{ID: v.Get("id"), Name: v.Get("name"), Roles: list(v.Get("roles"))}, nil
		},
		asks("Create the model “{id}”, called “{name}”, with the roles “{roles}”. Its id can never be used for another.", "id", "name", "roles"), "models",
	},
	"directory_set_roles": {
		func(v url.Values) (any, error) {
			return directory.Roles{ID: v.Get("id"), Roles: list(v.Get("roles"))}, nil
		},
		asks("Give “{id}” exactly the roles “{roles}”.", "id", "roles"), "models",
	},
	"directory_set_active": {
		func(v url.Values) (any, error) {
			on, err := yes(v.Get("active"))
			return directory.Activity{ID: v.Get("id"), Active: on}, err
		},
		func(w words, v url.Values) string {
			if v.Get("active") == "true" {
				return asks("Activate “{id}”.", "id")(w, v)
			}
			return asks("Deactivate “{id}”, who may do nothing from then on.", "id")(w, v)
		}, "models",
	},
}

// confirmation is a change that waits for a second click.
type confirmation struct {
	Base, Back string
	Sentence   string
	Fields     url.Values
}

// change makes a change of directory or settings as the person, once it was confirmed.
func (p *pages) change(w http.ResponseWriter, r *web.Request) error {
	v, err := form(r)
	if err != nil {
		return err
	}
	name := v.Get("action")
	e, ok := edits[name]
	if !ok {
		return web.NewProblem(web.CodeNotFound, "There is no such change: Nothing was changed.")
	}
	params, err := e.params(v)
	if err != nil {
		return &registry.Refusal{Code: ledger.Invalid, Reason: "form"}
	}
	if v.Get("confirmed") != "yes" {
		v.Set("confirmed", "yes")
		return p.show(w, r, http.StatusOK, p.frame(r, "confirm", &confirmation{Base: base(r), Back: e.back, Sentence: e.say(p.words, v), Fields: v}))
	}
	text, err := json.Marshal(params)
	if err != nil {
		return err
	}
	if _, err := r.Visit.Invoke(r.Context(), name, text); err != nil {
		return err
	}
	return see(w, r, base(r)+e.back+"?done=changed")
}
