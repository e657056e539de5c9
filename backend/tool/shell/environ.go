package shell

import (
	"regexp"
	"slices"
	"strings"
)

// ourPrefix marks the program's own variables: its configuration, credentials included.
const ourPrefix = "AALIS_"

var (
	// secretAnywhere makes a name secret wherever it stands: npm_config_authToken, DB_PASSWORD_FILE.
	secretAnywhere = []string{"SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "TOKEN", "CREDENTIAL", "APIKEY", "PRIVATEKEY"}
	// secretParts make it secret as a part of its own: OPENAI_API_KEY, GITHUB_PAT, REDIS_AUTH.
	secretParts = []string{"KEY", "KEYS", "PASS", "PAT", "JWT", "COOKIE", "CREDS", "AUTH"}
	// harmless names look secret and are the way to use one without seeing it: without the agent's
	// socket no command could push.
	harmless = []string{"SSH_AUTH_SOCK"}
)

// userinfo finds a password inside an address, as in DATABASE_URL or a proxy.
var userinfo = regexp.MustCompile(`://[^/@\s]*:[^/@\s]+@`)

// environ is what a command may see of our environment: no variable whose name looks like a
// secret's, none whose value holds a known secret or an address with a password, none of our own.
// dir becomes PWD.
func environ(inherited, secrets []string, dir string) []string {
	kept := make([]string, 0, len(inherited)+1)
	for _, pair := range inherited {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || secretName(name) || userinfo.MatchString(value) || holdsSecret(value, secrets) || name == "PWD" {
			continue
		}
		kept = append(kept, pair)
	}
	return append(kept, "PWD="+dir)
}

func secretName(name string) bool {
	upper := strings.ToUpper(name)
	if strings.HasPrefix(upper, ourPrefix) {
		return true
	}
	if slices.Contains(harmless, upper) {
		return false
	}
	for _, word := range secretAnywhere {
		if strings.Contains(upper, word) {
			return true
		}
	}
	parts := strings.FieldsFunc(upper, func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	for i, part := range parts {
		// PWD alone is the folder; MYSQL_PWD is not.
		if slices.Contains(secretParts, part) || part == "PWD" && i > 0 {
			return true
		}
	}
	return false
}

func holdsSecret(value string, secrets []string) bool {
	for _, secret := range secrets {
		if strings.Contains(value, secret) {
			return true
		}
	}
	return false
}
