// Package mcptest runs MCP clients and suites that are not ours against our servers and gateways: the official
// conformance suites, the Inspector and the TypeScript SDK. They need Node and are skipped without it: .ci/run
// installs what node/package-lock.json pins and puts the folder into SALLYPORT_TEST_NODE.
package mcptest

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Revisions of the protocol for which there is a conformance suite.
const (
	Previous = "2025-11-25"
	Latest   = "2026-07-28"
)

//go:embed node/client.mjs
var clientScript []byte

// Node is an installation of Node with the clients and suites.
type Node struct{ dir string }

// Open returns the installation, or skips the test.
func Open(t testing.TB) Node {
	t.Helper()
	dir := os.Getenv("SALLYPORT_TEST_NODE")
	if dir == "" {
		t.Skip("SALLYPORT_TEST_NODE names no folder")
	}
	return Node{dir}
}

// run runs a script of the installation and returns what it printed, with its error if it failed.
func (n Node) run(t testing.TB, script string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	modules := filepath.Join(n.dir, "node_modules")
	c := exec.CommandContext(ctx, filepath.Join(modules, "node", "bin", "node"), append([]string{script}, args...)...)
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), "HOME="+c.Dir, "SALLYPORT_TEST_NODE="+n.dir, "PATH="+filepath.Join(modules, "node", "bin")+":"+os.Getenv("PATH"))
	var out, log bytes.Buffer
	c.Stdout, c.Stderr = &out, &log
	err = c.Run()
	return out.String(), log.String(), err
}

// Conformance runs the official suite of a revision: role is server or client, args as for its command line.
func (n Node) Conformance(t testing.TB, revision, role string, args ...string) (output string, err error) {
	t.Helper()
	script := filepath.Join(n.dir, "node_modules", "conformance-"+revision, "dist", "index.js")
	stdout, stderr, err := n.run(t, script, append([]string{role, "--spec-version", revision}, args...)...)
	return stdout + stderr, err
}

// Inspector runs the Inspector's command line and returns what it printed.
func (n Node) Inspector(t testing.TB, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	script := filepath.Join(n.dir, "node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	return n.run(t, script, append([]string{"--cli"}, args...)...)
}

// Job is what the TypeScript client is to do: at a URL, or with a command that serves on standard input and output.
type Job struct {
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Command []string          `json:"command,omitempty"`
	Steps   []Step            `json:"steps"`
}

// Step is a call, or the list of tools if it names none.
type Step struct {
	Call      string          `json:"call,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Outcome is what a step returned.
type Outcome struct {
	Result struct {
		Tools             []struct{ Name string }       `json:"tools"`
		Content           []struct{ Type, Text string } `json:"content"`
		StructuredContent json.RawMessage               `json:"structuredContent"`
		IsError           bool                          `json:"isError"`
		Meta              map[string]any                `json:"_meta"`
	} `json:"result"`
	Error string `json:"error"`
}

// TypeScript has the TypeScript SDK's client do a job, and returns the outcome of each step.
func (n Node) TypeScript(t testing.TB, job Job) []Outcome {
	t.Helper()
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "client.mjs")
	if err := os.WriteFile(script, clientScript, 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, err := n.run(t, script, string(text))
	if err != nil {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	var all []Outcome
	for line := range bytes.Lines([]byte(stdout)) {
		var o Outcome
		if err := json.Unmarshal(line, &o); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		all = append(all, o)
	}
	if len(all) != len(job.Steps) {
		t.Fatalf("%d outcomes of %d steps: %s%s", len(all), len(job.Steps), stdout, stderr)
	}
	return all
}
