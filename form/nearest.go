package form

import "strings"

// didYouMean suggests the one of the known names that is almost name, in a sentence with a space
// before it, or returns "".
func didYouMean(name string, known []string) string {
	const longest = 80
	if len(name) > longest {
		return ""
	}
	best, least := "", 3
	for _, candidate := range known {
		distance := editDistance(fold(name), fold(candidate))
		if distance < least && distance*3 <= len(candidate) {
			best, least = candidate, distance
		}
	}
	if best == "" {
		return ""
	}
	return " Did you mean " + abbreviate(best) + "?"
}

// fold takes away what differs between naming styles.
func fold(name string) string { return separators.Replace(strings.ToLower(name)) }

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// editDistance counts the bytes to insert, delete or replace to get from a to b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
