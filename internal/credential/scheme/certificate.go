package scheme

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"
	"strings"
	"time"
)

var (
	errNoCertificate = errors.New("there is no certificate in PEM form")
	errNoPair        = errors.New("the private key cannot be read, or is not that of the certificate")
)

// byteOrderMark is what some editors begin a file with; PEM begins behind it.
const byteOrderMark = "\uFEFF"

func (k *checker) checkMutualTLS() {
	for _, text := range []*string{(*string)(&k.c.Secret), &k.c.Certificate, &k.c.CA} {
		*text = strings.TrimSpace(strings.TrimPrefix(*text, byteOrderMark))
	}
	key := string(k.c.Secret)
	switch {
	case key == "":
		k.fault("secret", "Give the private key, in PEM form.")
	case len(key) > MaxPEM:
		k.fault("secret", "Give at most %d KiB.", MaxPEM>>10)
	case !strings.Contains(key, "PRIVATE KEY-----"):
		k.fault("secret", "This is not a private key in PEM form: it has no line with BEGIN PRIVATE KEY.")
	case strings.Contains(key, "BEGIN ENCRYPTED") || strings.Contains(key, "Proc-Type: 4,ENCRYPTED"):
		k.fault("secret", "This private key is locked with a passphrase. Give it without one; Taskbay encrypts it itself.")
	}
	chain, err := certificates(k.c.Certificate)
	if err != nil {
		k.fault("certificate", "This is not a certificate in PEM form.")
	} else {
		k.checkLeaf(chain[0])
	}
	if k.c.CA != "" {
		if _, err := certificates(k.c.CA); err != nil {
			k.fault("ca", "This is not a certificate in PEM form.")
		}
	}
	if len(k.faults) > 0 {
		return
	}
	if _, err := clientTLS(k.c); err != nil {
		k.fault("secret", "This private key cannot be read, or is not that of the certificate.")
	}
}

func (k *checker) checkLeaf(leaf *x509.Certificate) {
	const day = "2 January 2006"
	usages := leaf.ExtKeyUsage
	switch {
	case k.rules.Now.After(leaf.NotAfter):
		k.fault("certificate", "This certificate expired on %s.", leaf.NotAfter.UTC().Format(day))
	case len(usages) > 0 && !slices.Contains(usages, x509.ExtKeyUsageClientAuth) && !slices.Contains(usages, x509.ExtKeyUsageAny):
		k.fault("certificate", "This certificate is not for clients: its extended key usage lacks clientAuth.")
	}
}

// certificates reads all certificates of a PEM text; there is at least one.
func certificates(text string) ([]*x509.Certificate, error) {
	var list []*x509.Certificate
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, errNoCertificate
		}
		list = append(list, certificate)
	}
	if len(list) == 0 {
		return nil, errNoCertificate
	}
	return list, nil
}

// clientTLS returns the TLS configuration of a client certificate. Its errors
// say nothing of what is in it.
func clientTLS(c Credential) (*tls.Config, error) {
	pair, err := tls.X509KeyPair([]byte(c.Certificate), []byte(c.Secret))
	if err != nil {
		return nil, errNoPair
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	if c.CA == "" {
		return config, nil
	}
	trusted, err := certificates(c.CA)
	if err != nil {
		return nil, err
	}
	config.RootCAs = x509.NewCertPool()
	for _, certificate := range trusted {
		config.RootCAs.AddCert(certificate)
	}
	return config, nil
}

// Expires returns when the client certificate of a checked credential stops
// being valid; the zero time if it has none.
func (c Credential) Expires() time.Time {
	if c.Kind != MutualTLS {
		return time.Time{}
	}
	chain, err := certificates(c.Certificate)
	if err != nil {
		return time.Time{}
	}
	return chain[0].NotAfter.UTC()
}
