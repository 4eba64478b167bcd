package agui

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// artifactPath is where the console gives out bytes, by their digest.
const artifactPath = "/api/v1/artifacts/"

// Content is one piece of what a user said, as it is stored with a thread: bytes are
// kept by their digest.
type Content struct {
	Type      string `json:"type"` // text, image, audio, video or document
	Text      string `json:"text,omitempty"`
	URL       string `json:"url,omitempty"`
	SHA256    string `json:"sha256,omitempty"`
	MediaType string `json:"mediaType,omitempty"`
	Filename  string `json:"filename,omitempty"`

	bytes []byte // of which SHA256 is the digest, when they come
}

// spoken is a user's message as it was read.
type spoken struct {
	ID      string
	Content []Content
	Plain   bool     // the content was a text, not parts
	Unknown []string // kinds of content that are not sent on
}

// inputContent is a piece of content as clients write it, those before 1.0 as well.
type inputContent struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	MimeType string `json:"mimeType"`
	Filename string `json:"filename"`
	Data     string `json:"data"`
	URL      string `json:"url"`
	Source   struct {
		Type     string `json:"type"`
		Value    string `json:"value"`
		MimeType string `json:"mimeType"`
	} `json:"source"`
	Metadata struct {
		Filename string `json:"filename"`
	} `json:"metadata"`
}

// speak reads a message of a user.
func speak(m InputMessage) spoken {
	s := spoken{ID: m.ID}
	if text, ok := rawjson.Text(m.Content); ok {
		s.Plain = true
		if strings.TrimSpace(text) != "" {
			s.Content = []Content{{Type: "text", Text: text}}
		}
		return s
	}
	for item := range rawjson.Elements(m.Content) {
		var in inputContent
		if err := json.Unmarshal(item, &in); err != nil {
			s.Unknown = append(s.Unknown, "unreadable")
			continue
		}
		if c, ok := in.content(); ok {
			s.Content = append(s.Content, c)
		} else {
			s.Unknown = append(s.Unknown, in.Type+" "+in.Source.Type)
		}
	}
	return s
}

// content returns the piece, and whether it is one that can be sent on.
func (in inputContent) content() (Content, bool) {
	c := Content{Type: in.Type, MediaType: label(in.Source.MimeType), Filename: label(in.Metadata.Filename)}
	switch in.Type {
	case "text":
		return Content{Type: "text", Text: in.Text}, in.Text != ""
	case "image", "audio", "video", "document":
		switch in.Source.Type {
		case "data":
			return c.withBytes(in.Source.Value)
		case "url":
			return c.withURL(in.Source.Value)
		}
	case "binary":
		c = Content{Type: kindOf(in.MimeType), MediaType: label(in.MimeType), Filename: label(in.Filename)}
		if in.Data != "" {
			return c.withBytes(in.Data)
		}
		return c.withURL(in.URL)
	}
	return c, false
}

// kindOf is the kind of content that a media type belongs to.
func kindOf(mediaType string) string {
	switch kind, _, _ := strings.Cut(mediaType, "/"); kind {
	case "image", "audio", "video":
		return kind
	}
	return "document"
}

// label is a text as a part may have it for a name or type; "" for one that none may.
func label(s string) string {
	if isName(s) && len(s) <= maxName {
		return s
	}
	return ""
}

func (c Content) withBytes(encoded string) (Content, bool) {
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		decoded, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(encoded, "="))
	}
	if err != nil || len(decoded) == 0 {
		return c, false
	}
	sum := sha256.Sum256(decoded)
	c.SHA256, c.bytes = hex.EncodeToString(sum[:]), decoded
	return c, true
}

// withURL takes an address for the agent, and data: URLs for the bytes in them. An
// address of the console's own artifacts, from a snapshot that it sent, stands for the
// bytes that came before.
func (c Content) withURL(address string) (Content, bool) {
	if head, encoded, ok := strings.Cut(address, ";base64,"); ok && strings.HasPrefix(head, "data:") {
		if c.MediaType == "" {
			c.MediaType = label(strings.TrimPrefix(head, "data:"))
		}
		return c.withBytes(encoded)
	}
	u, err := url.Parse(address)
	if err != nil || !u.IsAbs() {
		return c, false
	}
	c.URL = address
	return c, true
}

// part is the piece as it is sent to an agent.
func (c Content) part() a2a.Part {
	switch {
	case c.Type == "text":
		return a2a.TextPart(c.Text)
	case c.bytes != nil:
		return a2a.Part{Raw: c.bytes, MediaType: c.MediaType, Filename: c.Filename}
	}
	return a2a.Part{URL: c.URL, MediaType: c.MediaType, Filename: c.Filename}
}

// digest names what was said. Bytes, and the address that the console gave them, are
// the same.
func (s spoken) digest() string {
	sum := sha256.New()
	for _, c := range s.Content {
		said := c.SHA256
		if at := strings.Index(c.URL, artifactPath); at >= 0 {
			said = c.URL[at+len(artifactPath):]
		}
		if said == "" {
			said = c.Text + "\x00" + c.URL
		}
		sum.Write(mustJSON([]string{c.Type, said}))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// shown is what was said as clients have it in their messages. files gives bytes an
// address; bytes that are not kept go back as they came.
func shown(content []Content, plain bool, files func(sha256 string) string) json.RawMessage {
	if plain {
		var text string
		for _, c := range content {
			text += c.Text
		}
		return mustJSON(text)
	}
	parts := make([]any, 0, len(content))
	for _, c := range content {
		if c.Type == "text" {
			parts = append(parts, map[string]any{"type": "text", "text": c.Text})
			continue
		}
		source := map[string]any{"type": "url", "value": c.URL}
		switch {
		case c.bytes != nil:
			source = map[string]any{"type": "data", "value": base64.StdEncoding.EncodeToString(c.bytes)}
		case c.SHA256 != "":
			source["value"] = files(c.SHA256)
		}
		source["mimeType"] = c.mimeType()
		part := map[string]any{"type": c.Type, "source": source}
		if c.Filename != "" {
			part["metadata"] = map[string]any{"filename": c.Filename}
		}
		parts = append(parts, part)
	}
	return mustJSON(parts)
}

func (c Content) mimeType() string {
	if c.MediaType == "" {
		return "application/octet-stream"
	}
	return c.MediaType
}
