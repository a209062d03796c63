package sqlledger

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed schema/*.sql
var files embed.FS

// version is the newest version of the schema that this package knows.
const version = 1

// Schema returns the statements that make an empty ledger of the newest version. [Store.Migrate] does the same,
// and upgrades older ones.
func Schema(d Dialect, o Options) ([]string, error) {
	o, err := o.check(d)
	if err != nil {
		return nil, err
	}
	var list []string
	for v := range version + 1 {
		list = append(list, step(d, o, fmt.Sprint(v))...)
	}
	set := fmt.Sprintf("INSERT INTO {meta} (one, version, environment) VALUES (1, %d, '%s')", version, o.Environment)
	return append(list, names(o.Prefix).Replace(set)), nil
}

// InsertOnly returns the statements of triggers that refuse to change, delete or truncate records, also by
// REPLACE. They protect the audit trail from honest code. Whoever owns the table can drop them: let the
// application connect as a role that does not own it and may only insert and select there.
func InsertOnly(d Dialect, o Options) ([]string, error) {
	o, err := o.check(d)
	if err != nil {
		return nil, err
	}
	return step(d, o, "insertonly"), nil
}

// step reads the statements of one file, which blank lines separate.
func step(d Dialect, o Options, name string) []string {
	text, err := files.ReadFile("schema/" + d.String() + "_" + name + ".sql")
	if err != nil {
		panic(err) // a file that is embedded
	}
	var list []string
	for s := range strings.SplitSeq(string(text), "\n\n") {
		lines := strings.Split(strings.TrimSpace(s), "\n")
		for len(lines) > 0 && strings.HasPrefix(lines[0], "--") {
			lines = lines[1:]
		}
		if len(lines) > 0 {
			list = append(list, names(o.Prefix).Replace(strings.TrimSuffix(strings.Join(lines, "\n"), ";")))
		}
	}
	return list
}
