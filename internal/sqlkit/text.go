package sqlkit

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
)

const mark = "\x01"

// Keep returns what a column holds for a text. Every database keeps and compares it byte for byte: a text with U+0000 or
// with bytes that are not UTF-8 is written as a quoted Go string behind a mark, so that it comes back as it was and
// equal texts stay equal.
func Keep(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 && !strings.HasPrefix(s, mark) {
		return s
	}
	return mark + strconv.QuoteToASCII(s)
}

// Kept returns the text that a column holds.
func Kept(s string) (string, error) {
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

// Encoder makes columns and keeps the first error. It refuses what a database might cut.
type Encoder struct{ Err error }

// Fail keeps an error about what is named.
func (e *Encoder) Fail(name string, err error) {
	if err != nil && e.Err == nil {
		e.Err = fmt.Errorf("sql: %s: %w", name, err)
	}
}

func (e *Encoder) text(name, s string, limit int) string {
	s = Keep(s)
	if len(s) > limit && e.Err == nil {
		e.Err = fmt.Errorf("sql: %s is longer than %d bytes", name, limit)
	}
	return s
}

// Short is a text that is compared.
func (e *Encoder) Short(name, s string) string { return e.text(name, s, maxShort) }

// Long is any other text.
func (e *Encoder) Long(name, s string) string { return e.text(name, s, maxLong) }

// EncodeList writes a list as a JSON array, and an empty one as "".
func EncodeList[T ~string](e *Encoder, name string, list []T) string {
	if len(list) == 0 {
		return ""
	}
	return EncodeArray(e, name, list)
}

// EncodeArray writes a list as a JSON array, also an empty one.
func EncodeArray[T ~string](e *Encoder, name string, list []T) string {
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = Keep(string(s))
	}
	array, err := json.Marshal(texts)
	e.Fail(name, err)
	return e.Long(name, string(array))
}

// Decoder restores columns and keeps the first error.
type Decoder struct{ Err error }

// Fail keeps an error about a column.
func (d *Decoder) Fail(column string, err error) {
	if err != nil && d.Err == nil {
		d.Err = fmt.Errorf("column %s: %w", column, err)
	}
}

// Text restores a text.
func (d *Decoder) Text(column, s string) string {
	text, err := Kept(s)
	d.Fail(column, err)
	return text
}

// Bytes restores bytes; none are nil.
func (d *Decoder) Bytes(column, s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(d.Text(column, s))
}

// Flag restores a truth from 0 or 1.
func (d *Decoder) Flag(column string, n int64) bool {
	if n != 0 && n != 1 {
		d.Fail(column, fmt.Errorf("%d is neither 0 nor 1", n))
	}
	return n == 1
}

// DecodeList restores a list.
func DecodeList[T ~string](d *Decoder, column, s string) []T {
	if s == "" {
		return nil
	}
	var texts []string
	d.Fail(column, json.Unmarshal([]byte(s), &texts))
	var list []T
	for _, t := range texts {
		list = append(list, T(d.Text(column, t)))
	}
	return list
}

// Number writes a measurement as the shortest text that is exactly it, which no driver rounds and no engine takes
// for NULL.
func Number(f *float64) sql.NullString {
	if f == nil {
		return sql.NullString{}
	}
	return sql.NullString{String: strconv.FormatFloat(*f, 'g', -1, 64), Valid: true}
}

// Number restores a measurement.
func (d *Decoder) Number(column string, s sql.NullString) *float64 {
	if !s.Valid {
		return nil
	}
	f, err := strconv.ParseFloat(s.String, 64)
	d.Fail(column, err)
	return &f
}

// Flag writes a truth as 0 or 1.
func Flag(set bool) int64 {
	if set {
		return 1
	}
	return 0
}

// Never is how the zero Time is written.
const Never = -62135596800000000

// Micros writes an instant as microseconds since 1970.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// Instant restores an instant, in UTC.
func Instant(us int64) time.Time {
	if us == Never {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// Digest tells lists of texts apart.
func Digest(texts ...string) string {
	h := sha256.New()
	var size [8]byte
	for _, t := range texts {
		binary.BigEndian.PutUint64(size[:], uint64(len(t)))
		h.Write(size[:])
		h.Write([]byte(t))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
