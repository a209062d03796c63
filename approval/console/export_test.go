package console

import "time"

// Patterns returns the patterns of the JSON API's routes.
func Patterns(k *Console) []string {
	var list []string
	for _, s := range k.surfaces {
		for _, r := range s.Routes {
			if s.Prefix == "/api/v1/" {
				list = append(list, r.Pattern)
			}
		}
	}
	return list
}

// Hurry makes a webhook's pauses short.
func Hurry(w *Webhook) { w.pause = time.Microsecond }
