package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"loadstone.dev/loadstone/hack/bench/local"
)

// nginxProgram is not one of ours: it is installed, and its configuration is made.
const nginxProgram = "nginx"

// nginx is the peer as workloads/nginx configures it.
type nginx struct {
	program, out string
	port         int
}

// findNginx looks where Debian has it too: not every user's path has that folder.
func findNginx() (string, error) {
	for _, name := range []string{nginxProgram, "/usr/sbin/" + nginxProgram} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("nginx is not installed")
}

// prepareNginx lets the workload's Makefile write its configuration and files, for a port that is free.
func prepareNginx(ctx context.Context, dir string) (*nginx, error) {
	const source, limit = "workloads/nginx", time.Minute
	program, err := findNginx()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(source, "Makefile")); err != nil {
		return nil, fmt.Errorf("%s has no Makefile", source)
	}
	port, err := local.FreePort()
	if err != nil {
		return nil, err
	}
	n := &nginx{program: program, out: filepath.Join(dir, nginxProgram), port: port}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := exec.CommandContext(ctx, "make", "-s", "-C", source, "OUT="+n.out, "PORT="+strconv.Itoa(port)).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("making nginx's configuration: %w: %s", err, out)
	}
	return n, nil
}

func (n *nginx) start(ctx context.Context, dir string) (*local.Server, error) {
	args := []string{n.program, "-p", n.out, "-c", filepath.Join(n.out, "nginx.conf"), "-g", "daemon off;"}
	return local.StartServer(ctx, dir, n.port, args)
}
