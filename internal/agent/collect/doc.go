// Package collect runs a program that measures itself, once: it commands the launch, reads what the program's container costs meanwhile, and reads
// the cases that the program prints.
//
// What goes wrong with the program is the program's fault, with the files of what it printed; everything else is an error of the agent.
package collect
