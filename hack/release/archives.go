package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"loadstone.dev/loadstone/internal/cli"
)

func (r *release) archives(ctx context.Context) error {
	common, err := r.commonFiles()
	if err != nil {
		return err
	}
	for _, goos := range []string{"linux", "darwin"} {
		for _, a := range architectures {
			p, err := r.ours(ctx, "loadstone", goos, a.name)
			if err != nil {
				return err
			}
			text, err := licenses(ctx, p)
			if err != nil {
				return err
			}
			files := tree{"loadstone": {mode: 0o755, body: p.body}, "THIRD_PARTY_LICENSES": {mode: 0o644, body: text}}
			body, err := files.add(common).archive(r.date)
			if err != nil {
				return err
			}
			name := fmt.Sprintf("loadstone_%s_%s_%s", r.version, goos, a.name)
			about := subject{name: name, purpose: "ARCHIVE", sha: sumOf(body)}
			if err := errors.Join(r.write(name+".tar.gz", body), r.sbom(about, []program{p}, nil)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) commonFiles() (tree, error) {
	out := tree{}
	pages, err := filepath.Glob(filepath.Join(r.root, "docs", "man", "*.1"))
	if err != nil {
		return nil, err
	}
	for _, file := range append(pages, filepath.Join(r.root, "LICENSE"), filepath.Join(r.root, "NOTICE")) {
		body, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading a file of the archives: %w", err)
		}
		name := filepath.Base(file)
		if filepath.Ext(name) == ".1" {
			name = "man/" + name
		}
		out[name] = entry{mode: 0o644, body: body}
	}
	top := cli.New("loadstone")
	var bash, zsh, fish, powershell bytes.Buffer
	if err := errors.Join(top.GenBashCompletionV2(&bash, true), top.GenZshCompletion(&zsh), top.GenFishCompletion(&fish, true), top.GenPowerShellCompletionWithDesc(&powershell)); err != nil {
		return nil, fmt.Errorf("writing completions: %w", err)
	}
	for name, b := range map[string]*bytes.Buffer{"loadstone.bash": &bash, "_loadstone": &zsh, "loadstone.fish": &fish, "loadstone.ps1": &powershell} {
		out["completions/"+name] = entry{mode: 0o644, body: b.Bytes()}
	}
	return out, nil
}
