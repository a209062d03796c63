package pages

import (
	"encoding/json"
	"html/template"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/approval/console/internal/texts"
	"github.com/sallyport-dev/sallyport/approval/console/internal/web"
)

// said are the texts that code says in place, as [texts.Catalog.Say] and [asks] get them. A test holds them to the code.
var said = []string{
	"Accept all tools of the MCP server “{name}” in the form that has the digest “{digest}”.",
	"Activate “{id}”.",
	"Add the MCP server “{name}” at “{address}”. Nothing of it is available before it is accepted.",
	"Approve in advance, in your own name: the model “{model}” may use “{tool}” below “{below}” any number of times, for {hours} hours, also for people who may only ask for it.",
	"Approve in advance, in your own name: the model “{model}” may use “{tool}” below “{below}” any number of times, for {hours} hours, for people who may do it themselves.",
	"Approve in advance, in your own name: the model “{model}” may use “{tool}” below “{below}” {uses} times, for {hours} hours, also for people who may only ask for it.",
	"Approve in advance, in your own name: the model “{model}” may use “{tool}” below “{below}” {uses} times, for {hours} hours, for people who may do it themselves.",
	"Approved, and it ran. How it ended is below.",
	"Create the model “{id}”, called “{name}”, with the roles “{roles}”. Its id can never be used for another.",
	"Deactivate “{id}”, who may do nothing from then on.",
	"Disable the tool “{tool}” for every model. Open proposals of it cannot be approved meanwhile.",
	"Dismissed. The requester can read the reason.",
	"Enable the tool “{tool}” again.",
	"Give “{id}” exactly the roles “{roles}”.",
	"How long people took to decide",
	"It was {who}, at {time}.",
	"Look closely: line {line}: {word} is {script} that looks like Latin ({letters}).",
	"Look closely: line {line}: {word} mixes {scripts} ({letters}).",
	"Not approved. Tick what the form asks for first. Nothing ran.",
	"Not dismissed. Give a reason: whoever asked reads it.",
	"Nothing was dismissed. Choose between one and twenty proposals, and a reason that their requesters can read.",
	"Remove the MCP server “{name}” and all its tools.",
	"Set the ceiling for every model of this scope to “{ceiling}”.",
	"Set the grant of the tool “{tool}” to the model “{model}” to “{effect}”.",
	"Take the standing grant “{grant}” away from the model “{model}”. It holds at once.",
	"There are no external servers here.",
	"There is no such change: Nothing was changed.",
	"There is no such tool: The registry has none of this name.",
	"This is the revised proposal. The one before it was dismissed.",
	"Turn standing grants off: every change waits for a person.",
	"Turn standing grants on: what they cover runs without a click, in the name of whoever gave them.",
	"What became of proposals",
	"Whether it helped",
	"and",
	"expired",
	"{beginning}… ({size} in all)",
	"{days} days left",
	"{hours} h {minutes} min left",
	"{label}: {number} {part}",
	"{label}: {number}.",
	"{minutes} min {seconds} s left",
	"{number} %",
	"{number} KiB",
	"{number} bytes",
	"{seconds} s left",
}

// Texts returns every text that a host can replace, sorted: those of templates, of the script and of code.
func Texts() []string {
	list := slices.Concat(said, dismissals, waits, fates, counted, verdicts, names, inScript(), web.Texts(),
		[]string{waiting, expired, dismissed, interrupted, running, failed, done},
		slices.Collect(maps.Values(measured)), slices.Collect(maps.Values(risks)), slices.Collect(maps.Values(reasons)))
	for _, of := range notices {
		list = slices.AppendSeq(list, maps.Values(of))
	}
	for _, c := range ceilings {
		list = append(list, c.Words)
	}
	for _, name := range sources() {
		of, _ := texts.Of(source(name)) // parse says what is wrong with it
		list = append(list, of...)
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(text string) bool { return text == "" })
}

// sources are the names of the templates.
func sources() []string {
	var list []string
	files, _ := templates.ReadDir("templates")
	for _, f := range files {
		list = append(list, f.Name())
	}
	return list
}

func source(name string) string {
	text, _ := templates.ReadFile("templates/" + name)
	return string(text)
}

// parse returns the templates of the screens, in the words of the host.
func (w words) parse() map[string]*template.Template {
	add := func(to *template.Template, name string) *template.Template {
		text, err := w.Expand(source(name))
		return template.Must(template.Must(to, err).New(name).Parse(text))
	}
	layout := add(add(template.New("").Funcs(w.functions()), "parts.html"), "layout.html")
	screens := map[string]*template.Template{}
	for _, name := range sources() {
		if name != "layout.html" && name != "parts.html" {
			screens[strings.TrimSuffix(name, ".html")] = add(template.Must(layout.Clone()), name)
		}
	}
	return screens
}

// spoken finds the texts of the script: the constant with which it calls t.
var spoken = regexp.MustCompile(`\bt\("([^"]+)"`)

// inScript lists the texts of the script.
func inScript() []string {
	text, _ := assets.ReadFile("assets/console.js")
	list := plain(events) // which it says too
	for _, m := range spoken.FindAllStringSubmatch(string(text), -1) {
		list = append(list, m[1])
	}
	return list
}

// scripted returns the texts of the script that are not English, as JSON for a page to hand to it, or "".
func (w words) scripted() string {
	own := map[string]string{}
	for _, text := range inScript() {
		if say := w.Say(text); say != text {
			own[text] = say
		}
	}
	if len(own) == 0 {
		return ""
	}
	text, _ := json.Marshal(own) // strings have a JSON form
	return string(text)
}
