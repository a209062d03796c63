package sqlauthz

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/internal/sqlkit"
)

// scopeRow is what a scope has once, in columns.
type scopeRow struct {
	Scope    string `db:"scope"`
	Version  int64  `db:"version"`
	Attempt  string `db:"attempt"`
	Ceiling  string `db:"ceiling"`
	Disabled string `db:"disabled"`
	Standing int64  `db:"standing"`
	Roles    string `db:"roles"`
}

func (r *scopeRow) mark() mark { return mark{r.Version, r.Attempt} }

// actorRow is an actor in columns, without its grants.
type actorRow struct {
	ID        string `db:"id"`
	Ord       int64  `db:"ord"`
	Name      string `db:"name"`
	Kind      string `db:"kind"`
	Active    int64  `db:"active"`
	Roles     string `db:"roles"`
	Overrides string `db:"overrides"`
	Identity  string `db:"identity"`
}

// identity is what a scope's actor is for ever. It has no key: it tells a slip from what a directory wrote.
func (r *actorRow) identity(scope string) string { return sqlkit.Digest(scope, r.ID, r.Kind) }

// grantRow is a grant in columns; without a standing grant their names are empty.
type grantRow struct {
	Actor      string `db:"actor"`
	Ord        int64  `db:"ord"`
	Tool       string `db:"tool"`
	Effect     string `db:"effect"`
	StandingID string `db:"standing_id"`
	By         string `db:"given_by"`
	Since      int64  `db:"begins_at"`
	Until      int64  `db:"ends_at"`
	Uses       int64  `db:"uses"`
	Below      string `db:"below"`
	Definition string `db:"definition"`
	AskOnly    int64  `db:"ask_only"`
	Seal       string `db:"seal"`
}

// roleText and overrideText are the JSON in columns.
type roleText struct {
	Name        string         `json:"name"`
	Permissions []string       `json:"permissions,omitempty"`
	Overrides   []overrideText `json:"overrides,omitempty"`
}

type overrideText struct {
	At     string   `json:"at"`
	Effect string   `json:"effect"`
	Of     []string `json:"of"`
}

func encodeScope(e *sqlkit.Encoder, f *authz.Facts) *scopeRow {
	r := &scopeRow{Disabled: sqlkit.EncodeList(e, "the disabled tools", f.Settings.Disabled), Standing: sqlkit.Flag(f.Settings.Standing)}
	if f.Settings.Ceiling != 0 {
		r.Ceiling = f.Settings.Ceiling.String()
	}
	var roles []roleText
	for _, role := range f.Roles {
		roles = append(roles, roleText{sqlkit.Keep(role.Name), keepAll(role.Permissions), overridesText(role.Overrides)})
	}
	r.Roles = encodeJSON(e, "the roles", roles)
	return r
}

func encodeActor(e *sqlkit.Encoder, scope string, ord int, a *authz.Actor) *actorRow {
	r := &actorRow{
		ID: e.Short("the id", string(a.ID)), Ord: int64(ord), Name: e.Long("the name", a.Name), Kind: a.Kind.String(), Active: sqlkit.Flag(a.Active),
		Roles: sqlkit.EncodeList(e, "the roles", a.Roles), Overrides: encodeJSON(e, "the overrides", overridesText(a.Overrides)),
	}
	r.Identity = r.identity(scope)
	return r
}

func encodeGrant(e *sqlkit.Encoder, ord int, actor string, g *authz.Grant) *grantRow {
	r := &grantRow{Actor: actor, Ord: int64(ord), Tool: e.Short("the tool", g.Tool), Effect: g.Effect.String(), Since: sqlkit.Never, Until: sqlkit.Never}
	if s := g.Standing; s != nil {
		r.StandingID, r.By, r.Seal = e.Short("the standing grant", s.ID), e.Short("the giver", string(s.By)), e.Short("the seal", s.Seal)
		r.Since, r.Until, r.Uses = sqlkit.Micros(s.Since), sqlkit.Micros(s.Until), int64(s.Uses)
		r.Below, r.Definition, r.AskOnly = e.Long("the subtree", s.Below.String()), e.Short("the definition", s.Definition), sqlkit.Flag(s.AskOnly)
	}
	return r
}

func decode(r *scopeRow, actors []actorRow, grants []grantRow) (*authz.Facts, error) {
	d := new(sqlkit.Decoder)
	f := &authz.Facts{Settings: authz.Settings{
		Disabled: sqlkit.DecodeList[string](d, "disabled", r.Disabled), Standing: d.Flag("standing", r.Standing),
	}}
	if r.Ceiling != "" {
		name(d, "ceiling", &f.Settings.Ceiling, r.Ceiling)
	}
	for _, t := range decodeJSON[roleText](d, "roles", r.Roles) {
		f.Roles = append(f.Roles, authz.Role{
			Name: d.Text("roles", t.Name), Permissions: keptAll(d, "roles", t.Permissions), Overrides: overrides(d, "roles", t.Overrides),
		})
	}
	if d.Err != nil {
		return nil, d.Err
	}
	byID := map[string]int{}
	for i := range actors {
		a, err := actors[i].decode(r.Scope)
		if err != nil {
			return nil, fmt.Errorf("actor %q: %w", actors[i].ID, err)
		}
		byID[actors[i].ID] = len(f.Actors)
		f.Actors = append(f.Actors, a)
	}
	for i := range grants {
		g, err := grants[i].decode()
		at, known := byID[grants[i].Actor]
		if err == nil && !known {
			err = fmt.Errorf("there is no such actor")
		}
		if err != nil {
			return nil, fmt.Errorf("grant %d of actor %q: %w", grants[i].Ord, grants[i].Actor, err)
		}
		f.Actors[at].Grants = append(f.Actors[at].Grants, g)
	}
	return f, nil
}

func (r *actorRow) decode(scope string) (authz.Actor, error) {
	d := new(sqlkit.Decoder)
	a := authz.Actor{
		ID: authz.ID(d.Text("id", r.ID)), Name: d.Text("name", r.Name), Active: d.Flag("active", r.Active),
		Roles: sqlkit.DecodeList[string](d, "roles", r.Roles), Overrides: overrides(d, "overrides", decodeJSON[overrideText](d, "overrides", r.Overrides)),
	}
	name(d, "kind", &a.Kind, r.Kind)
	if r.Identity != r.identity(scope) {
		d.Fail("identity", errors.New("scope, id and kind are not those of the actor that was made"))
	}
	return a, d.Err
}

func (r *grantRow) decode() (authz.Grant, error) {
	d := new(sqlkit.Decoder)
	g := authz.Grant{Tool: d.Text("tool", r.Tool)}
	name(d, "effect", &g.Effect, r.Effect)
	if r.StandingID != "" {
		g.Standing = &authz.Standing{
			ID: d.Text("standing_id", r.StandingID), By: authz.ID(d.Text("given_by", r.By)),
			Since: sqlkit.Instant(r.Since), Until: sqlkit.Instant(r.Until), Uses: int(r.Uses),
			Definition: d.Text("definition", r.Definition), AskOnly: d.Flag("ask_only", r.AskOnly), Seal: d.Text("seal", r.Seal),
		}
		if r.Below != "" { // no path, which covers nothing
			name(d, "below", &g.Standing.Below, d.Text("below", r.Below))
		}
	}
	return g, d.Err
}

// name restores a value that has a text of its own.
func name(d *sqlkit.Decoder, column string, into encoding.TextUnmarshaler, text string) {
	d.Fail(column, into.UnmarshalText([]byte(text)))
}

func overridesText(list []authz.Override) (texts []overrideText) {
	for _, o := range list {
		texts = append(texts, overrideText{o.At.String(), o.Effect.String(), keepAll(o.Of)})
	}
	return texts
}

func overrides(d *sqlkit.Decoder, column string, texts []overrideText) (list []authz.Override) {
	for _, t := range texts {
		o := authz.Override{Of: keptAll(d, column, t.Of)}
		name(d, column, &o.At, t.At)
		name(d, column, &o.Effect, t.Effect)
		list = append(list, o)
	}
	return list
}

func keepAll(list []authz.Permission) (texts []string) {
	for _, p := range list {
		texts = append(texts, sqlkit.Keep(string(p)))
	}
	return texts
}

func keptAll(d *sqlkit.Decoder, column string, texts []string) (list []authz.Permission) {
	for _, t := range texts {
		list = append(list, authz.Permission(d.Text(column, t)))
	}
	return list
}

// encodeJSON writes a list, and an empty one as "".
func encodeJSON[T any](e *sqlkit.Encoder, what string, list []T) string {
	if len(list) == 0 {
		return ""
	}
	text, err := json.Marshal(list)
	e.Fail(what, err)
	return e.Long(what, string(text))
}

func decodeJSON[T any](d *sqlkit.Decoder, column, text string) (list []T) {
	if text != "" {
		d.Fail(column, json.Unmarshal([]byte(text), &list))
	}
	return list
}
