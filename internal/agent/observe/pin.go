package observe

import (
	"errors"
	"fmt"
	"os"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/base/util"
)

// pin puts all server threads on the CPU shared with another server, and the observer on others, if any. New threads inherit this; changes by
// others are undone at the next cell. Outside a duet it does nothing. It is allowed because the observer runs as the server's user.
func (o *Observer) pin() error {
	if o.cpu == nil {
		return nil
	}
	if err := o.locate(); err != nil {
		return err
	}
	if others := allBut(util.ParseCPUs(kernel.OwnCPUsAllowed()), int(*o.cpu)); len(others) > 0 {
		if err := o.proc.SetCPUs(os.Getpid(), others); err != nil {
			return fmt.Errorf("leaving CPU %d to the servers: %w", *o.cpu, err)
		}
	}
	pids, err := newTree(o.proc, o.server, o.config.Keeper, false).pids()
	if err != nil {
		return err
	}
	for _, pid := range pids {
		err := o.proc.SetCPUs(pid, []int{int(*o.cpu)})
		if errors.Is(err, kernel.ErrEnded) {
			if pid != o.server {
				continue
			}
			err = errGone
		}
		if err != nil {
			return fmt.Errorf("putting the server on CPU %d: %w", *o.cpu, err)
		}
	}
	return nil
}

func allBut(cpus []int, but int) []int {
	var others []int
	for _, cpu := range cpus {
		if cpu != but {
			others = append(others, cpu)
		}
	}
	return others
}
