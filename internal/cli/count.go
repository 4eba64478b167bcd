package cli

import "strconv"

// count writes a number and its noun: "1 task", "2 tasks".
func count[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.FormatInt(int64(n), 10) + " " + noun + "s"
}

// was is the verb that goes with a number.
func was[N int | int64](n N) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// is is the verb that goes with a number.
func is[N int | int64](n N) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
