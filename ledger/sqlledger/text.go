package sqlledger

import (
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/ledger"
)

// Columns hold what every database keeps and compares byte for byte. A text with U+0000 or with bytes that are
// not UTF-8 is written as a quoted Go string behind a mark, so that it comes back as it was and equal texts stay
// equal.

const mark = "\x01"

func keep(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 && !strings.HasPrefix(s, mark) {
		return s
	}
	return mark + strconv.QuoteToASCII(s)
}

func kept(s string) (string, error) {
	quoted, ok := strings.CutPrefix(s, mark)
	if !ok {
		return s, nil
	}
	return strconv.Unquote(quoted)
}

const (
	maxShort = 255       // bytes of a text that is compared
	maxLong  = 1<<24 - 1 // bytes of MEDIUMTEXT
)

// encoder makes columns and keeps the first error. It refuses what a database might cut.
type encoder struct{ err error }

func (e *encoder) text(name, s string, limit int) string {
	s = keep(s)
	if len(s) > limit && e.err == nil {
		e.err = fmt.Errorf("sqlledger: %s is longer than %d bytes", name, limit)
	}
	return s
}

func (e *encoder) short(name, s string) string { return e.text(name, s, maxShort) }
func (e *encoder) long(name, s string) string  { return e.text(name, s, maxLong) }

// list writes a list as a JSON array, and an empty one as "".
func encodeList[T ~string](e *encoder, name string, list []T) string {
	if len(list) == 0 {
		return ""
	}
	return encodeArray(e, name, list)
}

func encodeArray[T ~string](e *encoder, name string, list []T) string {
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = keep(string(s))
	}
	array, err := json.Marshal(texts)
	if err != nil && e.err == nil {
		e.err = fmt.Errorf("sqlledger: %s: %w", name, err)
	}
	return e.long(name, string(array))
}

// decoder restores columns and keeps the first error.
type decoder struct{ err error }

func (d *decoder) fail(column string, err error) {
	if err != nil && d.err == nil {
		d.err = fmt.Errorf("column %s: %w", column, err)
	}
}

func (d *decoder) text(column, s string) string {
	text, err := kept(s)
	d.fail(column, err)
	return text
}

func (d *decoder) bytes(column, s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(d.text(column, s))
}

func decodeList[T ~string](d *decoder, column, s string) []T {
	if s == "" {
		return nil
	}
	var texts []string
	d.fail(column, json.Unmarshal([]byte(s), &texts))
	var list []T
	for _, t := range texts {
		list = append(list, T(d.text(column, t)))
	}
	return list
}

// number writes a measurement as the shortest text that is exactly it, which no driver rounds and no engine
// takes for NULL.
func number(f *float64) sql.NullString {
	if f == nil {
		return sql.NullString{}
	}
	return sql.NullString{String: strconv.FormatFloat(*f, 'g', -1, 64), Valid: true}
}

func (d *decoder) number(column string, s sql.NullString) *float64 {
	if !s.Valid {
		return nil
	}
	f, err := strconv.ParseFloat(s.String, 64)
	d.fail(column, err)
	return &f
}

// never is how the zero Time is written.
const never = -62135596800000000

func micros(t time.Time) int64   { return ledger.Time(t).UnixMicro() }
func instant(us int64) time.Time { return ledger.Time(time.UnixMicro(us)) }

// digest tells lists of texts apart.
func digest(texts ...string) string {
	h := sha256.New()
	var size [8]byte
	for _, t := range texts {
		binary.BigEndian.PutUint64(size[:], uint64(len(t)))
		h.Write(size[:])
		h.Write([]byte(t))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
