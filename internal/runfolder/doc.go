// Package runfolder is the folder of a run on this machine while the run is led: which process leads it, and how far it is, for the process
// that resumes it. A report is made without either.
package runfolder
