// Package samples holds the sample runs that programs use.
package samples

import _ "embed"

// AA is the A/A run that finds a machine's noise floor, as YAML.
//
//go:embed aa.yaml
var AA []byte
