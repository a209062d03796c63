package wire

import "strings"

// Clean returns a text that JSON can hold: U+FFFD stands for what is no UTF-8.
func Clean(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
