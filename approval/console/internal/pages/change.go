package pages

import (
	"encoding/json"
	"fmt"
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
	say    func(url.Values) string
	back   string
}

func words(format string, fields ...string) func(url.Values) string {
	return func(v url.Values) string {
		args := make([]any, len(fields))
		for i, f := range fields {
			args[i] = "“" + visible(v.Get(f)) + "”"
		}
		return fmt.Sprintf(format, args...)
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
		words("Set the ceiling for every model of this scope to %s.", "ceiling"), "settings",
	},
	"directory_disable_tool": {
		func(v url.Values) (any, error) {
			off, err := yes(v.Get("disabled"))
			return directory.Disabling{Tool: v.Get("tool"), Disabled: off}, err
		},
		func(v url.Values) string {
			if v.Get("disabled") == "true" {
				return words("Disable the tool %s for every model. Open proposals of it cannot be approved meanwhile.", "tool")(v)
			}
			return words("Enable the tool %s again.", "tool")(v)
		}, "settings",
	},
	"directory_switch_standing": {
		func(v url.Values) (any, error) { on, err := yes(v.Get("on")); return directory.Switch{On: on}, err },
		func(v url.Values) string {
			if v.Get("on") == "true" {
				return "Turn standing grants on: what they cover runs without a click, in the name of whoever gave them."
			}
			return "Turn standing grants off: every change waits for a person."
		}, "settings",
	},
	"directory_set_grant": {
		func(v url.Values) (any, error) {
			return directory.Grant{Model: v.Get("model"), Tool: v.Get("tool"), Effect: v.Get("effect")}, nil
		},
		words("Set the grant of the tool %s to the model %s to %s.", "tool", "model", "effect"), "tools",
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
		func(v url.Values) string {
			often := "any number of times"
			if n, _ := strconv.Atoi(v.Get("uses")); n != 0 {
				often = strconv.Itoa(n) + " times"
			}
			text := words("Approve in advance, in your own name: the model %s may use %s below %s ", "model", "tool", "below")(v) + often + ", for " + visible(v.Get("hours")) + " hours"
			if v.Get("ask_only") == "true" {
				return text + ", also for people who may only ask for it."
			}
			return text + ", for people who may do it themselves."
		}, "tools",
	},
	"directory_revoke_standing": {
		func(v url.Values) (any, error) {
			return directory.Revocation{Model: v.Get("model"), Grant: v.Get("grant")}, nil
		},
		words("Take the standing grant %s away from the model %s. It holds at once.", "grant", "model"), "tools",
	},
	"mcp_add_server": {
		func(v url.Values) (any, error) {
			return map[string]string{"name": v.Get("name"), "address": v.Get("address")}, nil
		},
		words("Add the MCP server %s at %s. Nothing of it is available before it is accepted.", "name", "address"), "servers",
	},
	"mcp_accept_server": {
		func(v url.Values) (any, error) {
			return map[string]string{"name": v.Get("name"), "digest": v.Get("digest")}, nil
		},
		words("Accept all tools of the MCP server %s in the form that has the digest %s.", "name", "digest"), "servers",
	},
	"mcp_remove_server": {
		func(v url.Values) (any, error) { return map[string]string{"name": v.Get("name")}, nil },
		words("Remove the MCP server %s and all its tools.", "name"), "servers",
	},
	"directory_create_model": {
		func(v url.Values) (any, error) {
			return directory.NewModel{ID: v.Get("id"), Name: v.Get("name"), Roles: list(v.Get("roles"))}, nil
		},
		words("Create the model %s, called %s, with the roles %s. Its id can never be used for another.", "id", "name", "roles"), "models",
	},
	"directory_set_roles": {
		func(v url.Values) (any, error) {
			return directory.Roles{ID: v.Get("id"), Roles: list(v.Get("roles"))}, nil
		},
		words("Give %s exactly the roles %s.", "id", "roles"), "models",
	},
	"directory_set_active": {
		func(v url.Values) (any, error) {
			on, err := yes(v.Get("active"))
			return directory.Activity{ID: v.Get("id"), Active: on}, err
		},
		func(v url.Values) string {
			if v.Get("active") == "true" {
				return words("Activate %s.", "id")(v)
			}
			return words("Deactivate %s, who may do nothing from then on.", "id")(v)
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
		return p.show(w, r, http.StatusOK, p.frame(r, "confirm", "Are you sure?", &confirmation{Base: base(r), Back: e.back, Sentence: e.say(v), Fields: v}))
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
