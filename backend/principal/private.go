package principal

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// secretBytes is the size of every secret the program makes: 256 bits.
const secretBytes = 32

// newSecret gives 256 random bits as 64 hexadecimal digits.
func newSecret() string {
	var b [secretBytes]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b[:])
}

// RunDir gives <data>/run, made if need be and closed to everybody else (0700). A link or a file in
// its place is an error: following it would put secrets where somebody else chose.
func RunDir(dataDir string) (string, error) {
	dir := filepath.Join(dataDir, "run")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("making the run folder: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("looking at the run folder: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a folder; move it away and start again", dir)
	}
	if info.Mode().Perm() != 0o700 {
		if err := os.Chmod(dir, 0o700); err != nil {
			return "", fmt.Errorf("closing the run folder to others: %w", err)
		}
	}
	return dir, nil
}

// WritePrivate puts data at path with mode 0600, whole or not at all: a new file with a random name,
// made with O_EXCL so that nothing planted is followed, then renamed over path.
func WritePrivate(path string, data []byte) error {
	temp, err := writeTemp(path, data)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(fmt.Errorf("putting %s in place: %w", filepath.Base(path), err), os.Remove(temp))
	}
	return nil
}

func writeTemp(path string, data []byte) (string, error) {
	temp := path + "." + newSecret()[:16] + ".tmp"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("making a private file: %w", err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("writing %s: %w", filepath.Base(path), err), os.Remove(temp))
	}
	return temp, nil
}

// ReadPrivate reads a file that must be the program's own: a regular file that nobody else may read
// or write. A wider mode is an error that says how to mend it, because what stands in such a file
// can no longer be called secret.
func ReadPrivate(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others (mode %04o); delete it, or run: chmod 600 %s", path, info.Mode().Perm(), path)
	}
	return os.ReadFile(path)
}

// OwnerToken is the owner's token of this start: 256 random bits in run/owner.token, for local
// scripts and the program's own commands. It ends with the process.
type OwnerToken struct {
	path  string
	value string
}

func ownerTokenPath(dataDir string) string { return filepath.Join(dataDir, "run", "owner.token") }

// CreateOwnerToken makes the token of this start and writes its file. The caller holds the data
// folder's lock, so an older file belongs to a process that is gone and is replaced.
func CreateOwnerToken(dataDir string) (*OwnerToken, error) {
	if _, err := RunDir(dataDir); err != nil {
		return nil, err
	}
	t := &OwnerToken{path: ownerTokenPath(dataDir), value: newSecret()}
	if err := WritePrivate(t.path, []byte(t.value+"\n")); err != nil {
		return nil, fmt.Errorf("writing the owner's token: %w", err)
	}
	return t, nil
}

// Matches compares in constant time.
func (t *OwnerToken) Matches(secret string) bool {
	return subtle.ConstantTimeCompare([]byte(t.value), []byte(secret)) == 1
}

// Remove deletes the file at the end of the process. A file that holds another token belongs to a
// later start and stays.
func (t *OwnerToken) Remove() error {
	data, err := os.ReadFile(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the owner's token before removing it: %w", err)
	}
	if !t.Matches(string(bytes.TrimSpace(data))) {
		return nil
	}
	if err := os.Remove(t.path); err != nil {
		return fmt.Errorf("removing the owner's token: %w", err)
	}
	return nil
}

// ReadOwnerToken reads the token of the running instance, for the command line.
func ReadOwnerToken(dataDir string) (string, error) {
	data, err := ReadPrivate(ownerTokenPath(dataDir))
	if err != nil {
		return "", fmt.Errorf("reading the owner's token: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}

// KeySource gives the key that signs tokens. It is asked for every token, so that a key that is
// exchanged ends all older tokens at once. The first call may make the key.
type KeySource func() ([]byte, error)

// KeyFile keeps a key of 256 bits as hexadecimal digits in a file of mode 0600 and makes it at first
// use. Two processes that make it at once agree on one: the file appears by a link, which fails
// where one exists.
func KeyFile(path string) KeySource {
	return func() ([]byte, error) {
		key, err := readKey(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return key, err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, fmt.Errorf("making the folder of the signing key: %w", err)
		}
		temp, err := writeTemp(path, []byte(newSecret()+"\n"))
		if err != nil {
			return nil, err
		}
		linked := os.Link(temp, path)
		if err := os.Remove(temp); err != nil {
			return nil, fmt.Errorf("removing a temporary key: %w", err)
		}
		if linked != nil && !errors.Is(linked, fs.ErrExist) {
			return nil, fmt.Errorf("putting the signing key in place: %w", linked)
		}
		return readKey(path)
	}
}

func readKey(path string) ([]byte, error) {
	data, err := ReadPrivate(path)
	if err != nil {
		return nil, fmt.Errorf("reading the signing key: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(data)))
	if err != nil || len(key) != secretBytes {
		return nil, fmt.Errorf("%s does not hold %d hexadecimal digits; delete it to get a new key (tokens made so far end)", path, 2*secretBytes)
	}
	return key, nil
}
