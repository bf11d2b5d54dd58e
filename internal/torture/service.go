package torture

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pawl-go/pawl/internal/torture/load"
)

// service is one of the services, over all its lives.
type service struct {
	trial   *trial
	bundles *bundles
	options load.Options

	mutex sync.Mutex
	life  *life // nil while it is dead
}

// life is one process.
type life struct {
	cmd    *exec.Cmd
	input  io.WriteCloser
	stderr *os.File
	gone   chan struct{}
	wanted bool // its end
	err    error
}

// Restart starts the service again, with what it had not finished.
func (v *service) Restart(context.Context) error {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	o := v.options
	v.options.Life++
	name := fmt.Sprintf("%d-%d", o.Slot, o.Life)
	o.Journal = filepath.Join(v.trial.folder, "journal-"+name)
	l := &life{cmd: v.trial.Service(o), gone: make(chan struct{})}
	var err error
	if l.stderr, err = os.Create(filepath.Join(v.trial.folder, "stderr-"+name)); err != nil {
		return err
	}
	l.cmd.Stderr, l.cmd.SysProcAttr = l.stderr, withParent()
	if l.input, err = l.cmd.StdinPipe(); err != nil {
		return err
	}
	output, err := l.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := l.cmd.Start(); err != nil {
		return err
	}
	v.life = l
	go v.listen(l, output)
	for _, bundle := range v.bundles.of(o.Slot) {
		l.tell(load.TellRun, strconv.Itoa(bundle))
	}
	return nil
}

// listen hears what a process says until it has ended.
func (v *service) listen(l *life, output io.Reader) {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		word, text, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case load.SaysDone:
			if bundle, err := strconv.Atoi(text); err == nil {
				v.bundles.done(v.options.Slot, bundle)
			}
		case load.SaysLeak:
			v.trial.violation("goroutines are left", text)
		}
	}
	l.err = l.cmd.Wait()
	_ = l.stderr.Close()
	close(l.gone)
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if !l.wanted {
		text, _ := os.ReadFile(l.stderr.Name())
		v.trial.violation("a service ended by itself", fmt.Sprintf("%v: %.2000s", l.err, text))
	}
}

// Kill ends the service as kill -9 would, and returns when it is gone.
func (v *service) Kill() error {
	v.mutex.Lock()
	l := v.life
	v.life = nil
	if l != nil {
		l.wanted = true
	}
	v.mutex.Unlock()
	if l != nil {
		_ = l.cmd.Process.Kill() // it may be gone
		<-l.gone
	}
	return nil
}

var errSlow = errors.New("it took too long")

// stop has the service end in good order.
func (v *service) stop(patience time.Duration) error {
	v.mutex.Lock()
	l := v.life
	if l != nil {
		l.wanted = true
	}
	v.mutex.Unlock()
	if l == nil {
		return nil
	}
	l.tell(load.TellStop, "")
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-l.gone:
		v.mutex.Lock()
		v.life = nil
		v.mutex.Unlock()
		return l.err
	case <-timer.C:
		return errors.Join(errSlow, v.Kill())
	}
}

// tell says a word to the service, if it lives.
func (v *service) tell(word string) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if v.life != nil {
		v.life.tell(word, "")
	}
}

// run hands the service a bundle, if it lives: otherwise its next life has it.
func (v *service) run(bundle int) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if v.life != nil {
		v.life.tell(load.TellRun, strconv.Itoa(bundle))
	}
}

func (l *life) tell(word, text string) {
	_, _ = fmt.Fprintln(l.input, word, text) // who is dead does not listen
}
