package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// machine is what a run was on. What cannot be found out is "unknown".
type machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory string `json:"memory"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
	Commit string `json:"commit"`
}

const unknown = "unknown"

func thisMachine(ctx context.Context) machine {
	m := machine{CPU: unknown, Cores: runtime.NumCPU(), Memory: unknown, Kernel: unknown, Go: runtime.Version(), Commit: commit(ctx)}
	if model, ok := member("/proc/cpuinfo", "model name"); ok {
		m.CPU = model
	}
	if total, ok := kibibytes("/proc/meminfo", "MemTotal"); ok {
		m.Memory = fmt.Sprintf("%.0f GiB", float64(total)/(1<<20))
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(release))
	}
	return m
}

// commit names what was measured, with a mark if it was changed since.
func commit(ctx context.Context) string {
	name, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return unknown
	}
	changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no").Output()
	if err != nil {
		return unknown
	}
	if len(bytes.TrimSpace(changed)) > 0 {
		return strings.TrimSpace(string(name)) + " with changes"
	}
	return strings.TrimSpace(string(name))
}

// load is how busy the machine was, as the kernel says it.
func load() string {
	averages, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return unknown
	}
	fields := strings.Fields(string(averages))
	return strings.Join(fields[:min(3, len(fields))], " ")
}

// resident is how much memory a process holds, in KiB.
func resident(pid int) (int64, error) {
	file := fmt.Sprintf("/proc/%d/status", pid)
	n, ok := kibibytes(file, "VmRSS")
	if !ok {
		return 0, fmt.Errorf("%s does not say how much memory the process holds", file)
	}
	return n, nil
}

// member is a value of a file of lines as "name: value".
func member(file, name string) (value string, found bool) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(content)) {
		if n, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(n) == name {
			return strings.TrimSpace(v), true
		}
	}
	return "", false
}

func kibibytes(file, name string) (int64, bool) {
	value, _ := member(file, name)
	n, err := strconv.ParseInt(strings.TrimSuffix(value, " kB"), 10, 64)
	return n, err == nil
}
