// Package markdown prints words and tables as Markdown, as GitHub and GitLab show it in comments and summaries. What it is given is text and never
// markup, so that names and messages that others wrote change nothing of what stands around them. It knows no run.
package markdown
