package main

import (
	"bytes"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"
)

// subject is what a bill of materials describes. The checksum is that of an archive or of an image's manifest.
type subject struct{ name, purpose, sha string }

// unknown is what SPDX says where nothing is claimed.
const unknown = "NOASSERTION"

// sbom writes the parts of an archive or image: Go modules and Debian packages.
func (r *release) sbom(s subject, programs []program, debs []deb) error {
	doc := r.document(s, programs, debs)
	var b bytes.Buffer
	if err := json.Write(doc, &b, json.Indent(" ")); err != nil {
		return fmt.Errorf("writing the bill of materials of %s: %w", s.name, err)
	}
	return r.write(filepath.Join("sbom", s.name+".spdx.json"), b.Bytes())
}

func (r *release) document(s subject, programs []program, debs []deb) *spdx.Document {
	doc := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: s.name,
		DocumentNamespace: "https://loadstone.dev/spdx/" + s.name + "-" + s.sha,
		CreationInfo: &spdx.CreationInfo{
			Created:  r.date.Format(time.RFC3339),
			Creators: []spdx.Creator{{CreatorType: "Organization", Creator: "The Loadstone maintainers"}, {CreatorType: "Tool", Creator: "loadstone-release-" + r.version}},
		},
	}
	whole := newPackage(s.name, r.version, "")
	whole.PrimaryPackagePurpose, whole.PackageLicenseDeclared = s.purpose, "Apache-2.0"
	whole.PackageChecksums = []spdx.Checksum{{Algorithm: spdx.SHA256, Value: s.sha}}
	add(doc, "DOCUMENT", common.TypeRelationshipDescribe, whole)
	for _, d := range debs {
		add(doc, whole.PackageSPDXIdentifier, common.TypeRelationshipContains, newPackage(d.name, d.version, "pkg:deb/debian/"+d.name+"@"+url.QueryEscape(d.version)+"?arch="+d.arch+"&distro="+suite))
	}
	for _, p := range programs {
		main := newPackage(p.name, p.version(r), "pkg:golang/"+p.info.Path+"@"+p.version(r))
		main.PrimaryPackagePurpose = "APPLICATION"
		main.PackageChecksums = []spdx.Checksum{{Algorithm: spdx.SHA256, Value: sumOf(p.body)}}
		add(doc, whole.PackageSPDXIdentifier, common.TypeRelationshipContains, main)
		for _, m := range append(modules(p.info), debug.Module{Path: "stdlib", Version: strings.TrimPrefix(p.info.GoVersion, "go")}) {
			add(doc, main.PackageSPDXIdentifier, common.TypeRelationshipDependsOn, newPackage(m.Path, m.Version, "pkg:golang/"+m.Path+"@"+m.Version))
		}
	}
	return doc
}

// version is that of the release, or of the module that a load generator comes from.
func (p program) version(r *release) string {
	for _, g := range generators {
		for _, m := range p.info.Deps {
			if g.name == p.name && m.Path == g.module {
				return m.Version
			}
		}
	}
	return r.version
}

var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func newPackage(name, version, purl string) *spdx.Package {
	p := &spdx.Package{
		PackageName: name, PackageVersion: version, PackageDownloadLocation: unknown, PackageLicenseConcluded: unknown, PackageLicenseDeclared: unknown, PackageCopyrightText: unknown,
		PackageSPDXIdentifier: common.ElementID("Package-" + notInID.ReplaceAllString(name+"-"+version, "-")),
	}
	if purl != "" {
		p.PackageSPDXIdentifier = common.ElementID("Package-" + notInID.ReplaceAllString(strings.TrimPrefix(purl, "pkg:"), "-"))
		p.PackageExternalReferences = []*spdx.PackageExternalReference{{Category: spdx.CategoryPackageManager, RefType: "purl", Locator: purl}}
	}
	return p
}

// add adds a package, once, and its relationship.
func add(doc *spdx.Document, to common.ElementID, kind string, p *spdx.Package) {
	known := false
	for _, other := range doc.Packages {
		known = known || other.PackageSPDXIdentifier == p.PackageSPDXIdentifier
	}
	if !known {
		doc.Packages = append(doc.Packages, p)
	}
	doc.Relationships = append(doc.Relationships, &spdx.Relationship{
		RefA: common.DocElementID{ElementRefID: to}, RefB: common.DocElementID{ElementRefID: p.PackageSPDXIdentifier}, Relationship: kind,
	})
}
