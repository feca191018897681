// Command download gets programs from a .tar.gz archive if its checksum is as expected.
//
//	usage: download URL SHA512 FOLDER PROGRAM...
//
// A refused archive leaves no files.
package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// connects limits how long a connection attempt takes; whole limits the download.
	connects = 5 * time.Second
	whole    = 10 * time.Minute
)

func main() {
	if len(os.Args) < 5 {
		fmt.Fprintln(os.Stderr, "usage: download URL SHA512 FOLDER PROGRAM...")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), whole)
	defer cancel()
	if err := download(ctx, os.Args[1], os.Args[2], os.Args[3], os.Args[4:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		cancel()
		os.Exit(1)
	}
}

func download(ctx context.Context, url, sum, folder string, programs []string) (err error) {
	archive, err := os.CreateTemp(folder, "download-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, archive.Close(), os.Remove(archive.Name())) }()
	got, err := fetch(ctx, url, archive)
	if err != nil {
		return err
	}
	if got != sum {
		return fmt.Errorf("%s is refused: its SHA-512 is %s, expected %s", url, got, sum)
	}
	if _, err := archive.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := unpack(archive, folder, programs); err != nil {
		return fmt.Errorf("unpacking %s: %w", url, err)
	}
	return nil
}

func fetch(ctx context.Context, url string, to io.Writer) (sum string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	client := &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: connects}).DialContext,
		TLSHandshakeTimeout: connects, ResponseHeaderTimeout: 2 * connects,
	}}
	answer, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answers %s", url, answer.Status)
	}
	hash := sha512.New()
	if _, err := io.Copy(io.MultiWriter(to, hash), answer.Body); err != nil {
		return "", fmt.Errorf("reading %s: %w", url, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func unpack(archive io.Reader, folder string, programs []string) error {
	zipped, err := gzip.NewReader(archive)
	if err != nil {
		return err
	}
	left := slices.Clone(programs)
	for entries := tar.NewReader(zipped); len(left) > 0; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("it has no %s", strings.Join(left, ", "))
		} else if err != nil {
			return err
		}
		i := slices.Index(left, path.Base(entry.Name))
		if i < 0 || entry.Typeflag != tar.TypeReg {
			continue
		}
		if err := write(entries, filepath.Join(folder, left[i])); err != nil {
			return err
		}
		left = slices.Delete(left, i, i+1)
	}
	return nil
}

// write replaces a program by renaming, because the old one may be running.
func write(from io.Reader, file string) error {
	f, err := os.OpenFile(file+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
