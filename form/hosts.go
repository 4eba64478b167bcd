package form

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxHosts is how many host names are looked for, and maxHost how many bytes one can take.
const (
	maxHosts = 10
	maxHost  = 1_000
)

// DeceptiveHosts returns the first ten host names in a text, each once, that may pass for another: a
// label mixes scripts that no language mixes, or has foreign letters only that all look Latin, under
// a domain in Latin letters.
func DeceptiveHosts(text string) []string {
	if isASCII(text) {
		return nil
	}
	var hosts []string
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isHostRune(r) }) {
		if len(word) > maxHost || isASCII(word) || !isDeceptive(word) || slices.Contains(hosts, word) {
			continue
		}
		if hosts = append(hosts, word); len(hosts) == maxHosts {
			break
		}
	}
	return hosts
}

// isDeceptive reports whether a word is a host name that may pass for another.
func isDeceptive(word string) bool {
	labels := strings.FieldsFunc(word, isDot)
	if len(labels) < 2 {
		return false
	}
	underLatin := isASCII(labels[len(labels)-1])
	return slices.ContainsFunc(labels, func(label string) bool {
		return mixesScripts(label) || underLatin && looksLatin(label)
	})
}

// scripts are told apart within a label. Those of East Asia are one, and go with Latin.
var (
	eastAsian = []*unicode.RangeTable{
		unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
	}
	scripts = [][]*unicode.RangeTable{
		{unicode.Latin}, {unicode.Cyrillic}, {unicode.Greek}, eastAsian, {unicode.Arabic},
		{unicode.Hebrew}, {unicode.Armenian}, {unicode.Georgian}, {unicode.Cherokee},
		{unicode.Devanagari}, {unicode.Thai},
	}
)

const (
	latin    = 1 << 0
	asian    = 1 << 3
	noScript = 1 << 31 // some script that is not listed
)

func mixesScripts(label string) bool {
	var found uint32
	for _, r := range label {
		if unicode.IsLetter(r) && !unicode.In(r, unicode.Common, unicode.Inherited) {
			found |= scriptOf(r)
		}
	}
	return bits.OnesCount32(found) > 1 && found != latin|asian
}

func scriptOf(r rune) uint32 {
	for i, tables := range scripts {
		if unicode.In(r, tables...) {
			return 1 << i
		}
	}
	return noScript
}

// lookLatin are the foreign letters that many typefaces draw like Latin ones.
const lookLatin = "асԁеһіјӏорԛѕԝхуьҽпгѵѡ" + "αικνορτυω"

// looksLatin reports whether a label has foreign letters only, all of which look Latin.
func looksLatin(label string) bool {
	letters := 0
	for _, r := range label {
		if !unicode.IsLetter(r) {
			continue
		}
		if !strings.ContainsRune(lookLatin, unicode.ToLower(r)) {
			return false
		}
		letters++
	}
	return letters > 0
}

func isHostRune(r rune) bool {
	return r == '-' || isDot(r) || unicode.In(r, unicode.L, unicode.M, unicode.Nd) || isInvisible(r)
}

func isDot(r rune) bool { return r == '.' || r == '。' || r == '．' || r == '｡' }

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
