package form

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Decimal is an exact decimal number as JSON writes it, such as "10", "-0.5" or "6.02e23". No digit
// goes through floating point. The empty Decimal means none.
type Decimal string

// maxPlain is how many characters a number may take without an exponent. It holds every number
// that a float64 can hold and a person can type.
const maxPlain = 400

// maxExponentDigits keeps exponents within an int64, with room to shift them.
const maxExponentDigits = 18

// String writes the number as a plain decimal without superfluous zeros: "10", "0.5", "0". Only one
// that would take over 400 characters gets an exponent. What is no number comes back as it is.
func (d Decimal) String() string {
	v, ok := parseDecimal(string(d))
	if !ok {
		return string(d)
	}
	return v.text(maxPlain)
}

// Compare returns -1, 0 or +1 as d is less than, equal to, or more than other. Both must be numbers.
func (d Decimal) Compare(other Decimal) int {
	a, _ := parseDecimal(string(d))
	b, _ := parseDecimal(string(other))
	return a.compare(b)
}

// IsWhole reports whether d is a number without a fraction, however it is written: 2, 2.0, 1e2.
func (d Decimal) IsWhole() bool {
	v, ok := parseDecimal(string(d))
	return ok && v.isWhole()
}

// typed returns a text of the number that a person may enter: as it is written, if it has no exponent
// and is short enough.
func (d Decimal) typed() string {
	v, ok := parseDecimal(string(d))
	if !ok || len(d) <= MaxNumber && !strings.ContainsAny(string(d), "eE") {
		return string(d)
	}
	return v.typed()
}

// decimalOf returns the Decimal that a Go number stands for, and whether value is a finite number.
func decimalOf(value any) (Decimal, bool) {
	text := ""
	switch n := value.(type) {
	case Decimal:
		text = string(n)
	case json.Number:
		text = string(n)
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		text = fmt.Sprint(n)
	case float32:
		text = strconv.FormatFloat(float64(n), 'f', -1, 32)
	case float64:
		text = strconv.FormatFloat(n, 'f', -1, 64)
	}
	_, finite := parseDecimal(text)
	return Decimal(text), finite && isJSONNumber(text)
}

// MarshalJSON writes the number with the digits it has.
func (d Decimal) MarshalJSON() ([]byte, error) {
	if !isJSONNumber(string(d)) {
		return nil, fmt.Errorf("%q is not a JSON number", string(d))
	}
	return []byte(d), nil
}

// UnmarshalJSON keeps the number as it is written.
func (d *Decimal) UnmarshalJSON(data []byte) error {
	if !isJSONNumber(string(data)) {
		return fmt.Errorf("%s is not a JSON number", data)
	}
	*d = Decimal(data)
	return nil
}

func isJSONNumber(s string) bool {
	if s == "" || s[0] != '-' && !isDigit(s[0]) {
		return false
	}
	return isDigit(s[len(s)-1]) && json.Valid([]byte(s))
}

// decimal is a number taken apart: ±0.digits × 10^point. digits neither starts nor ends with a
// zero, and is empty for zero, which is never negative.
type decimal struct {
	negative bool
	digits   string
	point    int64
}

// parseDecimal reads [+-]?digits[.digits][e[+-]digits], where the digits before or after the point
// may be missing, not both. Only numbers that are finite as a float64 are ok, and whose exponent has
// no more than 18 digits. Time and space are in proportion to the length of s, not to the exponent.
func parseDecimal(s string) (_ decimal, ok bool) {
	unsigned := strings.TrimPrefix(s, "-")
	negative := len(unsigned) < len(s)
	if !negative {
		unsigned = strings.TrimPrefix(s, "+")
	}
	mantissa, exponentText := unsigned, "0"
	if i := strings.IndexAny(unsigned, "eE"); i >= 0 {
		mantissa, exponentText = unsigned[:i], unsigned[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole == "" && fraction == "" || !allDigits(whole) || !allDigits(fraction) {
		return decimal{}, false
	}
	exponent, ok := parseExponent(exponentText)
	if !ok {
		return decimal{}, false
	}

	digits := strings.TrimLeft(whole+fraction, "0")
	v := decimal{
		negative: negative,
		digits:   strings.TrimRight(digits, "0"),
		point:    exponent + int64(len(whole)) - int64(len(whole)+len(fraction)-len(digits)),
	}
	if v.digits == "" {
		return decimal{}, true
	}
	return v, v.isFinite() && exponent > -math.MaxInt64/2
}

// parseExponent reads [+-]?digits. An exponent too large to shift becomes an extreme one of the
// same sign.
func parseExponent(s string) (_ int64, ok bool) {
	unsigned := strings.TrimPrefix(s, "-")
	sign := int64(-1)
	if len(unsigned) == len(s) {
		unsigned = strings.TrimPrefix(s, "+")
		sign = 1
	}
	if unsigned == "" || !allDigits(unsigned) {
		return 0, false
	}
	unsigned = strings.TrimLeft(unsigned, "0")
	if len(unsigned) > maxExponentDigits {
		return sign * (math.MaxInt64 / 2), true
	}
	if unsigned == "" {
		return 0, true
	}
	n, err := strconv.ParseInt(unsigned, 10, 64)
	return sign * n, err == nil
}

// isFinite reports whether the nearest float64 is finite. Few numbers come close enough to the
// largest one to need a real conversion.
func (v decimal) isFinite() bool {
	if v.point != 309 {
		return v.point < 309
	}
	_, err := strconv.ParseFloat("0."+v.digits+"e309", 64)
	return err == nil
}

func (v decimal) isWhole() bool {
	return int64(len(v.digits)) <= v.point || v.digits == ""
}

// floor returns the whole part of a number that is not negative, and most if it is larger.
func (v decimal) floor(most int) int {
	n := 0
	for i := int64(0); i < v.point && n < most; i++ {
		n *= 10
		if i < int64(len(v.digits)) {
			n += int(v.digits[i] - '0')
		}
	}
	return min(n, most)
}

// wholeBetween reports whether there is a whole number from least to most, which is not below least.
func wholeBetween(least, most decimal) bool {
	return least.isWhole() || most.isWhole() || least.negative != most.negative ||
		least.whole() != most.whole()
}

// whole returns the digits before the point of a number with a fraction.
func (v decimal) whole() string { return v.digits[:max(v.point, 0)] }

func (v decimal) compare(other decimal) int {
	if c := cmp.Compare(v.sign(), other.sign()); c != 0 {
		return c
	}
	size := cmp.Or(cmp.Compare(v.point, other.point), strings.Compare(v.digits, other.digits))
	return size * v.sign()
}

func (v decimal) sign() int {
	switch {
	case v.digits == "":
		return 0
	case v.negative:
		return -1
	default:
		return 1
	}
}

// text writes the number as a plain decimal if that takes at most limit characters, and as an
// integer with an exponent if not.
func (v decimal) text(limit int) string {
	if v.digits == "" {
		return "0"
	}
	sign := ""
	if v.negative {
		sign = "-"
	}
	count := int64(len(v.digits))
	if int64(len(sign))+v.plainLength() > int64(limit) {
		return sign + v.digits + "e" + strconv.FormatInt(v.point-count, 10)
	}
	switch {
	case v.point <= 0:
		return sign + "0." + strings.Repeat("0", int(-v.point)) + v.digits
	case v.point < count:
		return sign + v.digits[:v.point] + "." + v.digits[v.point:]
	default:
		return sign + v.digits + strings.Repeat("0", int(v.point-count))
	}
}

// plainLength is how many characters the plain decimal takes, its sign aside.
func (v decimal) plainLength() int64 {
	count := int64(len(v.digits))
	switch {
	case v.point <= 0:
		return count - v.point + int64(len("0."))
	case v.point < count:
		return count + int64(len("."))
	default:
		return v.point
	}
}

// typed is a text of the number that a person may enter, or the shortest one if there is none.
func (v decimal) typed() string {
	text := v.text(MaxNumber + 1)
	if len(text) <= MaxNumber {
		return text
	}
	if short := strings.Replace(text, "0.", ".", 1); len(short) <= MaxNumber && v.point <= 0 {
		return short
	}
	return v.text(MaxNumber)
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
