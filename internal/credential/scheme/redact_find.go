package scheme

import (
	"bytes"
	"slices"
	"sync"
)

const (
	prefix    = 32  // symbols of a needle that an automaton knows; the rest is compared
	maxStates = 8   // readings of a text that are followed at a place: the most promising ones
	window    = 256 // bytes of a text behind which nothing is remembered; more than maxSpelling
	maxEffort = 16  // symbols that are compared for a byte of a text; then a prefix is enough
)

// automaton finds needles in a text that is read from its end to its beginning
// (Aho and Corasick, 1975): the beginnings of the needles are in it, turned around.
// So it tells where a needle begins.
type automaton struct {
	alphabet *alphabet
	needles  []string // in symbols
	has      map[string]bool
	nodes    []node
	first    [256]int32 // the node behind the root for each symbol; 0 for none
}

// node is a state: what was read last is the end of a beginning of a needle.
type node struct {
	symbol  byte
	depth   int32
	child   int32       // the first one; 0 for none
	table   *[256]int32 // all of them, if they are many
	sibling int32       // the next one; 0 for none
	fail    int32       // the longest shorter one that was read as well
	found   int32       // the next one on the way of fail, this one included, at which needles begin; 0 for none
	needles []int32     // that begin here
}

func newAutomaton(a *alphabet) *automaton {
	return &automaton{alphabet: a, has: map[string]bool{}, nodes: make([]node, 1)}
}

// add adds a needle; one that is too short to be told from ordinary text is not.
func (a *automaton) add(text string) {
	needle := a.alphabet.symbols(text)
	if len(needle) < MinSecret || a.has[needle] {
		return
	}
	a.has[needle] = true
	a.needles = append(a.needles, needle)
	at := int32(0)
	for i := min(len(needle), prefix) - 1; i >= 0; i-- {
		next := a.child(at, needle[i])
		if next == 0 {
			next = int32(len(a.nodes))
			a.nodes = append(a.nodes, node{symbol: needle[i], depth: a.nodes[at].depth + 1, sibling: a.nodes[at].child})
			a.nodes[at].child = next
			if at == 0 {
				a.first[needle[i]] = next
			}
		}
		at = next
	}
	a.nodes[at].needles = append(a.nodes[at].needles, int32(len(a.needles)-1))
}

func (a *automaton) child(at int32, symbol byte) int32 {
	if at == 0 {
		return a.first[symbol]
	}
	if table := a.nodes[at].table; table != nil {
		return table[symbol]
	}
	for c := a.nodes[at].child; c != 0; c = a.nodes[c].sibling {
		if a.nodes[c].symbol == symbol {
			return c
		}
	}
	return 0
}

// index makes the tables of nodes with many children.
func (a *automaton) index() {
	const few = 3
	for at := range a.nodes {
		count := 0
		for c := a.nodes[at].child; c != 0; c = a.nodes[c].sibling {
			count++
		}
		if at == 0 || count <= few {
			continue
		}
		table := new([256]int32)
		for c := a.nodes[at].child; c != 0; c = a.nodes[c].sibling {
			table[a.nodes[c].symbol] = c
		}
		a.nodes[at].table = table
	}
}

// finish makes the ways back. It is called once, when all needles are there.
func (a *automaton) finish() {
	a.index()
	queue := []int32{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for c := a.nodes[at].child; c != 0; c = a.nodes[c].sibling {
			if at != 0 {
				a.nodes[c].fail = a.step(a.nodes[at].fail, a.nodes[c].symbol)
			}
			a.nodes[c].found = a.nodes[a.nodes[c].fail].found
			if len(a.nodes[c].needles) > 0 {
				a.nodes[c].found = c
			}
			queue = append(queue, c)
		}
	}
}

// step returns the state after another symbol.
func (a *automaton) step(at int32, symbol byte) int32 {
	for {
		if next := a.child(at, symbol); next != 0 {
			return next
		}
		if at == 0 {
			return 0
		}
		at = a.nodes[at].fail
	}
}

// states are those of an automaton at one place of a text, one for each way to read
// what follows. The one in which nothing was found is left out.
type states struct {
	of    [maxStates]int32
	count int
}

// put adds a state. If there are too many, the least promising one goes.
func (s *states) put(a *automaton, state int32) {
	if state == 0 || slices.Contains(s.of[:s.count], state) {
		return
	}
	if s.count < maxStates {
		s.of[s.count] = state
		s.count++
		return
	}
	for i, other := range s.of {
		if a.nodes[other].depth < a.nodes[state].depth {
			s.of[i] = state
			return
		}
	}
}

// after puts the states into to that those in s become when text comes before it.
func (s *states) after(a *automaton, text []byte, to *states) {
	if s.count == 0 {
		to.put(a, a.walk(0, text))
		return
	}
	for _, state := range s.of[:s.count] {
		to.put(a, a.walk(state, text))
	}
}

// walk returns the state after a text, from its end to its beginning.
func (a *automaton) walk(state int32, text []byte) int32 {
	for i := len(text) - 1; i >= 0; i-- {
		switch symbol := a.alphabet[text[i]]; symbol {
		case alien:
			state = 0
		case skipped:
		default:
			state = a.step(state, byte(symbol))
		}
	}
	return state
}

// matcher finds needles in texts, however each character of them is spelled, and
// whatever the alphabets of its automata pass over is between them. The cost is in
// proportion to the text.
type matcher struct {
	automata []*automaton
	digits   *automaton // the one of hexadecimal digits, in which 0x is passed over
	nested   int
	spaces   bool      // a needle has a space in it, which is a plus in URLs
	dull     [256]bool // with these no needle ends
	idle     sync.Pool // of *search
}

func (m *matcher) setUp() {
	for c := range m.dull {
		m.dull[c] = m.nested == 0 || !isIntroducer(byte(c)) && c != '+' && c != '0'
	}
	for _, a := range m.automata {
		a.finish()
		for c, symbol := range a.alphabet {
			if symbol >= 0 && a.first[symbol] != 0 {
				m.dull[c] = false
			}
		}
	}
	m.spaces = m.nested > 0 && m.automata[0].hasSymbol(' ')
}

func (a *automaton) hasSymbol(symbol byte) bool {
	return slices.ContainsFunc(a.nodes[1:], func(n node) bool { return n.symbol == symbol })
}

// span is a piece of a text, from its first byte to the one behind it.
type span struct{ from, to int }

// spans returns where needles are in a text, in the order of the text. Those that
// share bytes are one.
func (m *matcher) spans(b []byte) []span {
	s, ok := m.idle.Get().(*search)
	if !ok {
		s = &search{matcher: m}
	}
	defer m.idle.Put(s)
	s.start(b)
	for i := len(b) - 1; i >= 0; i-- {
		s.visit(i)
	}
	found := s.found
	s.found, s.text = nil, nil
	slices.Reverse(found)
	return found
}

// search is one pass over a text, from its end to its beginning.
type search struct {
	*matcher
	speller
	escapes bool              // the text has any
	states  [window][3]states // of the places behind, by automaton
	active  [window]bool      // any of them is not empty
	found   []span            // the last one of the text first
	effort  int
}

func (s *search) start(text []byte) {
	if s.escapes {
		s.reset(text)
	}
	s.text, s.effort = text, maxEffort*(len(text)+prefix)
	s.escapes = bytes.ContainsAny(text, `%&\`)
}

// visit finds what begins at a place.
func (s *search) visit(i int) {
	here, c := i%window, s.text[i]
	next := (i + 1) % window
	if s.dull[c] && (i+1 == len(s.text) || !s.active[next]) {
		s.active[here] = false
		return
	}
	s.active[here] = true
	if !isIntroducer(c) && c != '+' && c != '0' {
		s.active[here] = s.visitLiteral(i)
		return
	}
	all := s.read(i, s.nested)
	some := false
	for k, a := range s.automata {
		to := &s.states[here][k]
		to.count = 0
		for _, spelled := range all.all() {
			from := s.at(i+int(spelled.length), k)
			from.after(a, spelled.text(), to)
			if s.spaces && k == 0 && spelled.says[0] == '+' && spelled.size == 1 {
				from.after(a, []byte{' '}, to)
			}
		}
		if a == s.digits && isPrefixed(s.text[i:]) {
			for _, state := range s.at(i+2, k).of[:s.at(i+2, k).count] {
				to.put(a, state)
			}
		}
		some = some || to.count > 0
		s.settle(i, a, to)
	}
	s.active[here] = some
}

// visitLiteral is visit for a byte that can be read in one way only.
func (s *search) visitLiteral(i int) (some bool) {
	for k, a := range s.automata {
		to, from := &s.states[i%window][k], s.at(i+1, k)
		symbol := a.alphabet[s.text[i]]
		switch {
		case symbol == alien:
			to.count = 0
			continue
		case symbol == skipped:
			to.of, to.count = from.of, from.count
		case from.count == 0:
			to.of[0], to.count = a.first[symbol], 1
			if to.of[0] == 0 {
				to.count = 0
				continue
			}
		default:
			to.count = 0
			for _, state := range from.of[:from.count] {
				to.put(a, a.step(state, byte(symbol)))
			}
		}
		some = some || to.count > 0
		if symbol != skipped {
			s.settle(i, a, to)
		}
	}
	return some
}

var nowhere states

// at returns the states of automaton k at a place.
func (s *search) at(i, k int) *states {
	if i >= len(s.text) || !s.active[i%window] {
		return &nowhere
	}
	return &s.states[i%window][k]
}

// isPrefixed reports whether b begins with what is put before hexadecimal digits.
func isPrefixed(b []byte) bool { return len(b) > 1 && b[0] == '0' && b[1]|0x20 == 'x' }

// settle notes the longest of the needles that begin at a place.
func (s *search) settle(i int, a *automaton, at *states) {
	end := -1
	for _, state := range at.of[:at.count] {
		for n := a.nodes[state].found; n != 0; n = a.nodes[a.nodes[n].fail].found {
			for _, needle := range a.nodes[n].needles {
				end = max(end, s.end(i, a, a.needles[needle]))
			}
		}
	}
	if end < 0 || s.secondHalf(i, end) {
		return
	}
	if last := len(s.found) - 1; last >= 0 && s.found[last].from < end {
		end = max(end, s.found[last].to)
		for last >= 0 && s.found[last].from < end {
			s.found, last = s.found[:last], last-1
		}
	}
	s.found = append(s.found, span{i, end})
}

// secondHalf reports whether a place is that of a backslash which another one before
// it escapes, and what was found there is what was found behind it. Without it, the
// one before would escape what is put there.
func (s *search) secondHalf(i, end int) bool {
	last := len(s.found) - 1
	if s.text[i] != '\\' || last < 0 || s.found[last] != (span{i + 1, end}) {
		return false
	}
	before := i
	for before > 0 && s.text[before-1] == '\\' {
		before--
	}
	return (i-before)%2 == 1
}

// end returns where a needle ends that begins at a place, -1 if it does not.
func (s *search) end(i int, a *automaton, needle string) int {
	if s.effort < 0 {
		needle = needle[:min(len(needle), prefix)]
	}
	const ahead = 5 // one spelling says at most four bytes
	var places [ahead][]int
	start, i := s.plainly(i, a, needle)
	if i < 0 {
		return -1
	}
	places[start%ahead] = []int{i}
	for at := start; at < len(needle); at++ {
		here := places[at%ahead]
		places[at%ahead] = nil
		for j := 0; j < len(here); j++ {
			s.effort--
			p := here[j]
			for next, symbols := range s.onwards(a, p, needle[at:], at > 0) {
				if symbols == 0 {
					here = appendNew(here, next)
				} else {
					places[(at+symbols)%ahead] = appendNew(places[(at+symbols)%ahead], next)
				}
			}
		}
	}
	if ends := places[len(needle)%ahead]; len(ends) > 0 {
		return slices.Max(ends)
	}
	return -1
}

// plainly goes past those symbols at the beginning of a needle that are at a place as
// such. It returns how many they are and where they end, -1 if what follows does not
// go on as the needle does.
func (s *search) plainly(i int, a *automaton, needle string) (at, end int) {
	for at < len(needle) && i < len(s.text) {
		c := s.text[i]
		if isIntroducer(c) || c == '+' || c == '0' {
			break
		}
		symbol := a.alphabet[c]
		if symbol != skipped || at == 0 {
			if symbol < 0 || needle[at] != byte(symbol) {
				return at, -1
			}
			at++
		}
		i++
		s.effort--
	}
	return at, i
}

func appendNew(places []int, p int) []int {
	if slices.Contains(places, p) {
		return places
	}
	return append(places, p)
}

// onwards returns the places after one reading of what is at a place, each with how
// many symbols of the needle it says.
func (s *search) onwards(a *automaton, p int, needle string, within bool) func(func(next, symbols int) bool) {
	return func(yield func(next, symbols int) bool) {
		if p >= len(s.text) {
			return
		}
		all := s.read(p, s.nested)
		for _, spelled := range all.all() {
			symbols, ok := a.says(spelled.text(), needle, within)
			if !ok && s.spaces && a == s.automata[0] && spelled.size == 1 && spelled.says[0] == '+' {
				symbols, ok = a.says([]byte{' '}, needle, within)
			}
			if ok && !yield(p+int(spelled.length), symbols) {
				return
			}
		}
		if within && a == s.digits && isPrefixed(s.text[p:]) {
			yield(p+2, 0)
		}
	}
}

// says returns how many symbols at the beginning of a needle a text says.
func (a *automaton) says(text []byte, needle string, within bool) (symbols int, ok bool) {
	for _, c := range text {
		switch symbol := a.alphabet[c]; {
		case symbol == skipped && within:
		case symbol < 0 || symbols >= len(needle) || needle[symbols] != byte(symbol):
			return 0, false
		default:
			symbols++
		}
	}
	return symbols, true
}
