package canon

// ParseAnyTop is Parse without the rule that the top level is an object.
func ParseAnyTop(src []byte, o Options) (string, error) { return canonicalize(src, o, true) }
