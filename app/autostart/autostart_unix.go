//go:build unix

package autostart

func (e Entry) status() (Status, error) {
	f, err := place()
	if err != nil {
		return Status{}, err
	}
	return f.status(e)
}

func (e Entry) set(on bool) error {
	f, err := place()
	if err != nil {
		return err
	}
	return f.set(e, on)
}
