package signature_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agent-taskbay/taskbay/internal/agent/signature"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

const card = `{"name":"Ada \u00fc","description":"d","capabilities":{"streaming":true,"extensions":[{"uri":"https://x.example/e","params":{"a":"","n":1.10}}]},
	"supportedInterfaces":[{"url":"https://agent.example/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"skills":[]}`

func newKey(t *testing.T) (*ecdsa.PrivateKey, signature.Key) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return private, signature.Key{ID: "k", Public: private.Public()}
}

// sign returns a card with a signature over payload ("" is the card's canonical form).
func sign(t *testing.T, algorithm jose.SignatureAlgorithm, private any, payload string, headers map[string]any) string {
	t.Helper()
	options := &jose.SignerOptions{}
	for name, value := range headers {
		options.WithHeader(jose.HeaderKey(name), value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: private}, options)
	if err != nil {
		t.Fatal(err)
	}
	if payload == "" {
		value := jsontext.Value(card)
		if err := value.Canonicalize(); err != nil {
			t.Fatal(err)
		}
		payload = string(value)
	}
	signed, err := signer.Sign([]byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	var flat struct{ Protected, Signature string }
	if err := json.Unmarshal([]byte(signed.FullSerialize()), &flat); err != nil {
		t.Fatal(err)
	}
	return with(card, `{"protected":"`+flat.Protected+`","signature":"`+flat.Signature+`"}`)
}

// with returns a card with these signatures.
func with(card string, signatures ...string) string {
	return strings.TrimSuffix(card, "}") + `,"signatures":[` + strings.Join(signatures, ",") + `]}`
}

// TestCardsOfOtherSigners verifies what the official JavaScript SDK signed (@a2a-js/sdk
// 1.3.0, generateAgentCardSignature), as it serves it.
func TestCardsOfOtherSigners(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/js-sdk.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors map[string]struct{ Key, Card json.RawMessage }
	if err := json.Unmarshal(raw, &vectors); err != nil {
		t.Fatal(err)
	}
	for algorithm, v := range vectors {
		key, err := signature.ParseKey(string(v.Key), "")
		if err != nil || key.Algorithm() != algorithm {
			t.Fatalf("ParseKey(%s) = %v, %v", algorithm, key.Algorithm(), err)
		}
		if got, err := signature.Verify(v.Card, []signature.Key{key}); err != nil || got.Thumbprint() != key.Thumbprint() {
			t.Errorf("%s: Verify() = %v, want that it holds", algorithm, err)
		}
		for what, changed := range map[string][]byte{
			"name":  bytes.Replace(v.Card, []byte("Signs its card"), []byte("Steals its card"), 1),
			"url":   bytes.Replace(v.Card, []byte("https://agent.example/rpc"), []byte("https://evil.example/rpc"), 1),
			"more":  bytes.Replace(v.Card, []byte(`"version":`), []byte(`"evil": true, "version":`), 1),
			"twice": bytes.Replace(v.Card, []byte(`"version":`), []byte(`"name": "Evil", "version":`), 1),
		} {
			if _, err := signature.Verify(changed, []signature.Key{key}); !errors.Is(err, signature.ErrInvalid) {
				t.Errorf("%s with another %s: Verify() = %v, want it invalid", algorithm, what, err)
			}
		}
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	private, key := newKey(t)
	_, other := newKey(t)
	other.ID = "other"
	kid := map[string]any{"kid": "k"}
	good := sign(t, jose.ES256, private, "", kid)
	secret := bytes.Repeat([]byte("k"), 32)
	header := func(text string) string {
		return `{"protected":"` + base64.RawURLEncoding.EncodeToString([]byte(text)) + `","signature":"AAAA"}`
	}
	tests := map[string]struct {
		card string
		keys []signature.Key
		want error
	}{
		"holds":                         {good, []signature.Key{key}, nil},
		"holds, one key of several":     {good, []signature.Key{other, key}, nil},
		"key without a name":            {good, []signature.Key{{Public: key.Public}}, nil},
		"without a kid":                 {sign(t, jose.ES256, private, "", nil), []signature.Key{key}, nil},
		"members in another order":      {`{"skills":[],` + strings.TrimPrefix(strings.Replace(good, `,"skills":[]`, "", 1), "{"), []signature.Key{key}, nil},
		"white space and escapes":       {strings.NewReplacer("Ada", "\\u0041da", "1.10", "11e-1", ":", " : ").Replace(good[:20]) + good[20:], []signature.Key{key}, nil},
		"jku is not looked at":          {sign(t, jose.ES256, private, "", map[string]any{"kid": "k", "jku": "http://169.254.169.254/"}), []signature.Key{key}, nil},
		"second signature":              {strings.Replace(good, `"signatures":[`, `"signatures":[`+header(`{"alg":"none"}`)+`,`, 1), []signature.Key{key}, nil},
		"not signed":                    {card, []signature.Key{key}, signature.ErrUnsigned},
		"empty list":                    {with(card), []signature.Key{key}, signature.ErrUnsigned},
		"no key":                        {good, nil, signature.ErrNoKey},
		"another's key":                 {good, []signature.Key{other}, signature.ErrInvalid},
		"key of another name":           {good, []signature.Key{{ID: "old", Public: key.Public}}, signature.ErrInvalid},
		"over another text":             {sign(t, jose.ES256, private, `{"name":"Eve"}`, kid), []signature.Key{key}, signature.ErrInvalid},
		"changed":                       {strings.Replace(good, "agent.example", "evil.example", 1), []signature.Key{key}, signature.ErrInvalid},
		"parameters changed to nothing": {strings.Replace(good, `"a":"",`, "", 1), []signature.Key{key}, signature.ErrInvalid},
		"member twice":                  {strings.Replace(good, `"description":"d"`, `"description":"d","description":"d"`, 1), []signature.Key{key}, signature.ErrInvalid},
		"Signatures beside it":          {strings.TrimSuffix(good, "}") + `,"Signatures":[]}`, []signature.Key{key}, signature.ErrInvalid},
		"names of another case":         {strings.Replace(good, `"signatures"`, `"Signatures"`, 1), []signature.Key{key}, signature.ErrUnsigned},
		"signature of another case":     {strings.Replace(good, `"protected"`, `"Protected"`, 1), []signature.Key{key}, signature.ErrInvalid},
		"interfaces in snake case":      {strings.Replace(good, `"skills":[]`, `"supported_interfaces":[],"skills":[]`, 1), []signature.Key{key}, signature.ErrInvalid},
		"byte order mark":               {"\ufeff" + good, []signature.Key{key}, signature.ErrInvalid},
		"something behind it":           {good + "{}", []signature.Key{key}, signature.ErrInvalid},
		"mark, and not signed":          {"\ufeff" + card + "x", []signature.Key{key}, signature.ErrUnsigned},
		"crit":                          {with(card, header(`{"alg":"ES256","crit":["exp"],"exp":1}`)), []signature.Key{key}, signature.ErrInvalid},
		"b64":                           {with(card, header(`{"alg":"ES256","b64":false}`)), []signature.Key{key}, signature.ErrInvalid},
		"none":                          {with(card, header(`{"alg":"none"}`)), nil, signature.ErrInvalid},
		"no algorithm":                  {with(card, header(`{"kid":"k"}`)), nil, signature.ErrInvalid},
		"no header":                     {with(card, header(`[]`)), nil, signature.ErrInvalid},
		"no base64":                     {with(card, `{"protected":"%","signature":"AAAA"}`), nil, signature.ErrInvalid},
		"no signature in it":            {with(card, `{}`, `7`), nil, signature.ErrInvalid},
		"HMAC":                          {sign(t, jose.HS256, secret, "", kid), []signature.Key{key}, signature.ErrInvalid},
		"algorithm of another key":      {with(card, header(`{"alg":"RS256","kid":"k"}`)), []signature.Key{key}, signature.ErrInvalid},
	}
	for name, tc := range tests {
		if _, err := signature.Verify([]byte(tc.card), tc.keys); !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
			t.Errorf("%s: Verify() = %v, want %v", name, err, tc.want)
		}
	}
}

// TestRequirementOfNothing signs a card as those do who leave empty members out: that
// nothing is required to call the agent is covered all the same.
func TestRequirementOfNothing(t *testing.T) {
	t.Parallel()
	private, key := newKey(t)
	for name, nothing := range map[string][]string{"securityRequirements": {`{}`, `{"schemes":{}}`, `null`}, "security": {`{}`, `null`}} {
		required := `"` + name + `":[{"schemes":{"bearer":{"list":["s"]}}}`
		payload := jsontext.Value(strings.Replace(card, `"skills":[]`, required+`]`, 1))
		if err := payload.Canonicalize(); err != nil {
			t.Fatal(err)
		}
		signed := sign(t, jose.ES256, private, string(payload), nil)
		with := func(more string) []byte {
			return []byte(strings.Replace(signed, `"skills":[]`, `"skills":[],`+required+more+`]`, 1))
		}
		if _, err := signature.Verify(with(""), []signature.Key{key}); err != nil {
			t.Errorf("%s: Verify() = %v, want that it holds", name, err)
		}
		for _, more := range nothing {
			if _, err := signature.Verify(with(","+more), []signature.Key{key}); !errors.Is(err, signature.ErrInvalid) {
				t.Errorf("%s with %s: Verify() = %v, want it invalid", name, more, err)
			}
		}
	}
}

func TestAmbiguities(t *testing.T) {
	t.Parallel()
	for card, want := range map[string][]signature.Ambiguity{
		`{"a":1,"b":[{"a":1}],"c":{"a":1}}`:                          nil,
		`{"a":1,"b":2,"a":3}`:                                        {{"/a", "a", "a"}},
		`{"url":"","URL":""}`:                                        {{"/URL", "url", "URL"}},
		`{"skills":[1,{"id":"","K":1,"\u212a":2}]}`:                  {{"/skills/1/\u212a", "K", "\u212a"}},
		`{"iconUrl":"","icon_url":""}`:                               {{"/icon_url", "iconUrl", "icon_url"}},
		`{"securitySchemes":{"key":{"type":"","Type":""},"Key":{}}}`: {{"/securitySchemes/key/Type", "type", "Type"}},
		`{"security":[{"a":[],"A":[]}]}`:                             nil,
		`{"params":{"a":1,"A":{"b":1,"B":2}},"x":1}`:                 nil,
		`{"params":{"a":{"b":1,"b":2}}}`:                             {{"/params/a/b", "b", "b"}},
		`{"a":1} {"a":1,"a":2}`:                                      nil,
		`"a"`:                                                        nil,
		`{"a":`:                                                      nil,
		``:                                                           nil,
		"{" + strings.Repeat(`"a":1,`, 5*signature.MaxAmbiguities) + `"a":1}`: slices.Repeat([]signature.Ambiguity{{"/a", "a", "a"}}, signature.MaxAmbiguities),
	} {
		if got := signature.Ambiguities([]byte(card)); !slices.Equal(got, want) {
			t.Errorf("Ambiguities(%s) = %q, want %q", card, got, want)
		}
	}
}

func TestParseKey(t *testing.T) {
	t.Parallel()
	ed, edPrivate, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	short := &rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), 1023), E: 65537}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public := func(key any) string {
		der, err := x509.MarshalPKIXPublicKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	}
	jwk := func(key any) string {
		raw, err := json.Marshal(jose.JSONWebKey{Key: key, KeyID: "from the key"})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for name, tc := range map[string]struct{ text, id, want string }{
		"PEM":          {public(ed), "", ""},
		"PEM with ID":  {" \n" + public(ed), "mine", "mine"},
		"JWK":          {jwk(ed), "", "from the key"},
		"JWK, renamed": {jwk(ed), "mine", "mine"},
	} {
		key, err := signature.ParseKey(tc.text, tc.id)
		if err != nil || key.ID != tc.want || key.Algorithm() != "EdDSA" {
			t.Errorf("%s: ParseKey() = %v, %v", name, key, err)
		}
		text, err := key.JWK()
		if again, err2 := signature.ParseKey(text, ""); err != nil || err2 != nil || again.Thumbprint() != key.Thumbprint() || again.ID != key.ID {
			t.Errorf("%s: JWK() = %s, %v, which reads as %v, %v", name, text, err, again, err2)
		}
	}
	for name, tc := range map[string]struct{ text, want string }{
		"nothing":     {"", "Give one public key"},
		"text":        {"hello", "no line with BEGIN PUBLIC KEY"},
		"JSON":        {`{"kty":"magic"}`, "not a JSON Web Key"},
		"short RSA":   {public(short), "at least 2048 bits"},
		"P-384":       {public(p384.Public()), "P-256"},
		"private JWK": {jwk(edPrivate), "private key"},
		"secret":      {`{"kty":"oct","k":"AAAA"}`, "private key"},
		"private PEM": {"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "private key"},
		"damaged PEM": {"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "Keys are RSA"},
	} {
		if _, err := signature.ParseKey(tc.text, ""); fault.KindOf(err) != fault.Unprocessable || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: ParseKey() = %v, want %q", name, err, tc.want)
		}
	}
}

// FuzzVerify checks that no card holds without being signed, and that none is fatal.
func FuzzVerify(f *testing.F) {
	f.Add([]byte(card))
	f.Add([]byte(with(card, `{"protected":"eyJhbGciOiJFUzI1NiJ9","signature":"AAAA"}`)))
	f.Add([]byte(`{"signatures":[{"protected":"eyJhbGciOiJFUzI1NiJ9","signature":""}],"a":1e999}`))
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, card []byte) {
		if _, err := signature.Verify(card, []signature.Key{{Public: private.Public()}}); err == nil {
			t.Errorf("%q holds", card)
		}
	})
}
