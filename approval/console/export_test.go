package console

import "time"

// Patterns returns the patterns of the JSON API's routes.
func Patterns(k *Console) []string { return patterns(k, "/api/v1/") }

// PagePatterns returns the patterns of the pages for people.
func PagePatterns(k *Console) []string { return patterns(k, "/") }

func patterns(k *Console, prefix string) []string {
	var list []string
	for _, s := range k.surfaces {
		for _, r := range s.Routes {
			if s.Prefix == prefix {
				list = append(list, r.Pattern)
			}
		}
	}
	return list
}

// Hurry makes a webhook's pauses short.
func Hurry(w *Webhook) { w.pause = time.Microsecond }
