package authz

// Reason is the code of the layer that decided. The set is closed; the text form is stable.
type Reason string

// The reasons. The first group is what a view's decisions carry, in the order of the layers; the second is
// for checks that need to know more than facts.
const (
	ReasonNoPermission  Reason = "no_permission"  // nothing allowed it
	ReasonUnknownActor  Reason = "unknown_actor"  // the facts do not have the actor
	ReasonInactive      Reason = "inactive"       // the actor was deactivated
	ReasonWrongKind     Reason = "wrong_kind"     // a model where a human is needed, or the reverse
	ReasonNoTarget      Reason = "no_target"      // no record, or no canonical path to it
	ReasonDisabled      Reason = "disabled"       // the tool is disabled in the scope
	ReasonAboveCeiling  Reason = "above_ceiling"  // the tool's mode is above the model's ceiling
	ReasonNotListed     Reason = "not_listed"     // the session's allowlist does not have the tool
	ReasonDenyGrant     Reason = "deny_grant"     // a grant denies the model this tool
	ReasonGrantMissing  Reason = "grant_missing"  // an explicit tool without an allow grant
	ReasonDenyOverride  Reason = "deny_override"  // the nearest override denies
	ReasonNotOnTarget   Reason = "not_on_target"  // nothing allowed it here, though it is allowed somewhere
	ReasonDenyBelow     Reason = "deny_below"     // a change of everything, with a deny somewhere below
	ReasonAllowOverride Reason = "allow_override" // the nearest override allows
	ReasonRole          Reason = "role"           // a role has the permission

	ReasonUnknownTool    Reason = "unknown_tool"    // the registry does not have the tool
	ReasonChangeInRead   Reason = "change_in_read"  // a read's run function asked for a change
	ReasonOtherIdentity  Reason = "other_identity"  // a run function used another identity than its caller's
	ReasonInsideRun      Reason = "inside_run"      // a run function tried to decide about a proposal
	ReasonSamePerson     Reason = "same_person"     // four eyes: the person behind the request may not approve
	ReasonInvalidSession Reason = "invalid_session" // no constructor built the session
)

// Decision is the answer to one question. The zero Decision refuses.
type Decision struct {
	Allowed bool
	Reason  Reason
	Who     ID   // whose authority decided
	Target  Path // the path that was refused, if one was
}

func refuse(who ID, why Reason) Decision { return Decision{Reason: why, Who: who} }

// Question is what is asked of a tool.
type Question uint8

// The two questions.
const (
	ToPerform Question = iota // to run it, or to approve it
	ToAsk                     // to propose it
)
