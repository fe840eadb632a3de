package door

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
)

// MinPersonKey is the fewest bytes of Rules.PersonKey.
const MinPersonKey = 32

const (
	personToken    = "X-Openwebui-User-Jwt"
	maxPersonToken = 8 << 10
	clockSkew      = 30 * time.Second // between Open WebUI and this machine
)

// Why a request that names a person is refused.
var (
	errUnsigned = errors.New("the person is not signed for: set FORWARD_USER_INFO_HEADER_JWT_SECRET of Open WebUI to the server's RAGFLOW_OPENWEBUI_SECRET")
	errNoKey    = errors.New("the server cannot check " + personToken + ": give it the secret of Open WebUI in RAGFLOW_OPENWEBUI_SECRET")
	errForged   = errors.New(personToken + " is not signed with RAGFLOW_OPENWEBUI_SECRET, or is damaged")
	errLapsed   = errors.New(personToken + " has expired or is not valid yet: compare the clocks of both machines")
)

// spokenFor returns the person that a client with the scope Speak asks for: "" for none. With a key, a person of
// Open WebUI must be signed for; other programs name theirs in X-Ragflow-User.
func spokenFor(h http.Header, key []byte, now time.Time) (string, error) {
	if v := strings.TrimSpace(h.Get("X-Ragflow-User")); v != "" {
		return v, nil
	}
	if token := h.Get(personToken); token != "" {
		return signedPerson(token, key, now)
	}
	for _, name := range []string{"X-Openwebui-User-Id", "X-Openwebui-User-Email"} {
		if v := strings.TrimSpace(h.Get(name)); v != "" {
			if len(key) > 0 {
				return "", errUnsigned
			}
			return v, nil
		}
	}
	return "", nil
}

// signedPerson checks a JSON Web Token of Open WebUI: HS256 alone, with an end.
func signedPerson(token string, key []byte, now time.Time) (string, error) {
	if len(key) == 0 {
		return "", errNoKey
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 || len(token) > maxPersonToken {
		return "", errForged
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(parts[0] + "." + parts[1]))
	if got, err := base64.RawURLEncoding.DecodeString(parts[2]); err != nil || !hmac.Equal(got, mac.Sum(nil)) {
		return "", errForged
	}
	var header struct{ Alg string }
	var claims struct {
		Sub, Iss string
		Exp, Nbf float64
	}
	if !decodePart(parts[0], &header) || !decodePart(parts[1], &claims) || header.Alg != "HS256" || claims.Iss != "open-webui" || claims.Sub == "" {
		return "", errForged
	}
	at := float64(now.Unix())
	if claims.Exp+clockSkew.Seconds() <= at || claims.Nbf-clockSkew.Seconds() > at {
		return "", errLapsed
	}
	return claims.Sub, nil
}

func decodePart(part string, v any) bool {
	data, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(data, v) == nil
}
