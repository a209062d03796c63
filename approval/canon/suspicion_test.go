package canon_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
)

func TestSuspicions(t *testing.T) {
	for in, want := range map[string][]string{
		"":                     nil,
		"plain text, 42 words": nil,
		"Москва и Ωμέγα":       nil,
		"user_имя a-я":         nil, // one script to a word
		"Tシャツ 東京タワー ＡＢ会社 한국語漢字":  nil,
		"naïve café Straße Łódź": nil,
		"µs 5µm":                 nil, // the micro sign is of no script
		"оса":                    {`"оса" is Cyrillic that looks like Latin (U+043E, U+0441, U+0430)`},
		"рак на суше":            nil, // other letters show that it is Russian
		"аррӏе inc":              {`"аррӏе" is Cyrillic that looks like Latin (U+0430, U+0440, U+04CF, U+0435)`},
		"ΙΒΑΝ":                   {`"ΙΒΑΝ" is Greek that looks like Latin (U+0399, U+0392, U+0391, U+039D)`},
		"he: оо":                 nil, // too short to say
		"pаypal.com":             {`"pаypal" mixes Latin and Cyrillic (U+0430)`},
		"аdmin":                  {`"аdmin" mixes Cyrillic and Latin (U+0430)`},
		"αdmin":                  {`"αdmin" mixes Greek and Latin (U+03B1)`},
		"pay\u200bpаl":           {`"pay\u200bpаl" mixes Latin and Cyrillic (U+0430)`},
		"A\U0001D400":            {`"A𝐀" mixes Latin and Mathematical (U+1D400)`},
		"pａypal":                 {`"pａypal" mixes Latin and Fullwidth (U+FF41)`},
		"漢я":                     {`"漢я" mixes East Asian and Cyrillic (U+6F22, U+044F)`},
		"Tシя":                    {`"Tシя" mixes Latin and East Asian and Cyrillic (U+30B7, U+044F)`},
		"pаy, mоre":              {`"pаy" mixes Latin and Cyrillic (U+0430)`, `"mоre" mixes Latin and Cyrillic (U+043E)`},
		"aбвгджзиклмн":           {`"aбвгджзиклмн" mixes Latin and Cyrillic (U+0431, U+0432, U+0433, U+0434, U+0436, U+0437, U+0438, U+043A)`},
		"\xffа\xffp":             nil,
	} {
		var got []string
		for _, s := range canon.Suspicions(in) {
			require.Zero(t, s.Line)
			got = append(got, s.String())
		}
		require.Equal(t, want, got, in)
	}
}

func TestSuspicionsOfADocument(t *testing.T) {
	o := parse(t, `{"host":"pаypal.com","а\nb":[],"list":["fine",{"nаme":"x\u0000\u200b"},"Ivan"],"n":1}`)
	found := o.Suspicions()
	require.Len(t, found, 2)
	require.Equal(t, canon.Suspicion{Line: 2, Word: "pаypal", Scripts: []string{"Latin", "Cyrillic"}, Odd: []rune{'а'}}, found[0])
	require.Equal(t, `line 6: "nаme" mixes Latin and Cyrillic (U+0430)`, found[1].String())
	require.Equal(t, `{
  "host": "pаypal.com",
  "list": [
    "fine",
    {
      "nаme": "x\u0000\u200b"
    },
    "Ivan"
  ],
  "n": 1,
  "а\nb": []
}`, o.Display(0))
}
