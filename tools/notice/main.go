// Notice writes the project's NOTICE: whose software is linked into taskbay, and
// under which licence. It fails if a licence is not one of those permitted, so
// that a dependency under another is noticed when it is added.
//
// It runs in the folder of tools, by go generate.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// permitted are licences that let anyone use taskbay, for anything, without
// having to publish what is built around it.
var permitted = []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "MPL-2.0", "Unlicense", "Zlib"}

// systems are those that taskbay is built for. Some modules are linked on one only.
var systems = []string{"darwin", "linux", "windows"}

const preamble = `Agent Taskbay
Copyright 2026 The Agent Taskbay Authors

Licensed under the Apache License, Version 2.0; see LICENSE.

The program contains the software named below, each under the licence that
stands with it, whose text comes with its source. Made by tools/notice; run
"go generate ./..." to make it anew.
`

func main() {
	log.SetFlags(0)
	log.SetPrefix("notice: ")
	text, err := notice()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("..", "NOTICE"), text, 0o644); err != nil {
		log.Fatal(err)
	}
}

func notice() ([]byte, error) {
	modules, err := linked()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString(preamble)
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		entry, err := describe(path, modules[path])
		if err != nil {
			return nil, err
		}
		out.WriteString("\n" + entry)
	}
	return out.Bytes(), nil
}

// linked returns the folder of each module that is linked into taskbay on any
// system, by the module's path.
func linked() (map[string]string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	modules := map[string]string{"Go standard library": strings.TrimSpace(string(root))}
	for _, system := range systems {
		list := exec.Command("go", "list", "-C", "..", "-deps", "-json=Module", "./cmd/taskbay")
		list.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		packages, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		for decoder := json.NewDecoder(bytes.NewReader(packages)); ; {
			var p struct {
				Module *struct {
					Path, Dir string
					Main      bool
				}
			}
			if err := decoder.Decode(&p); err == io.EOF {
				break
			} else if err != nil {
				return nil, fmt.Errorf("go list: %w", err)
			}
			if p.Module != nil && !p.Module.Main {
				modules[p.Module.Path] = p.Module.Dir
			}
		}
	}
	return modules, nil
}

var (
	licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)([.-].*)?$`)
	noticeFile  = regexp.MustCompile(`(?i)^notice([.-].*)?$`)
	copyright   = regexp.MustCompile(`(?i)\bcopyright +(\(c\)|©|[12]\d\d\d)`)
)

// describe returns a module's entry: its name, its licences, whose it is, and
// what its own NOTICE says.
func describe(path, dir string) (string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var licences, owners []string
	var said string
	licensed := false
	for _, file := range files {
		isLicence, isNotice := licenceFile.MatchString(file.Name()), noticeFile.MatchString(file.Name())
		if file.IsDir() || !isLicence && !isNotice {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			return "", err
		}
		if isNotice {
			said += string(text)
			continue
		}
		found, whole, err := identify(text)
		if err != nil {
			return "", fmt.Errorf("%s: %s: %w", path, file.Name(), err)
		}
		licensed = licensed || whole
		licences = append(licences, found...)
		owners = append(owners, holders(text)...)
	}
	if !licensed {
		return "", fmt.Errorf("%s has no file that is a known licence", path)
	}
	return entry(path, licences, owners, said), nil
}

func entry(path string, licences, owners []string, said string) string {
	slices.Sort(licences)
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n  %s\n", path, strings.Join(slices.Compact(licences), ", "))
	seen := make(map[string]bool)
	for _, owner := range owners {
		if !seen[owner] {
			fmt.Fprintf(&out, "  %s\n", owner)
		}
		seen[owner] = true
	}
	for line := range strings.Lines(said) {
		out.WriteString(strings.TrimRight("  | "+line, " \n") + "\n")
	}
	return out.String()
}

// identify returns the licences in a file, all of which must be permitted, and
// whether the file is a licence and not about several, or about something else.
func identify(text []byte) (found []string, whole bool, err error) {
	const most = 75 // percent of its words
	coverage := licensecheck.Scan(text)
	for _, match := range coverage.Match {
		if match.IsURL {
			continue
		}
		if !slices.Contains(permitted, match.ID) {
			return nil, false, fmt.Errorf("the licence %s is not one of %s", match.ID, strings.Join(permitted, ", "))
		}
		found = append(found, match.ID)
	}
	return found, len(found) > 0 && coverage.Percent >= most, nil
}

// holders returns the lines of a licence that say whose it is.
func holders(text []byte) []string {
	var lines []string
	for line := range strings.Lines(string(text)) {
		line = strings.Join(strings.Fields(line), " ")
		if copyright.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return lines
}
