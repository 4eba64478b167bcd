package remote

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/agent-taskbay/taskbay/internal/a2a"
)

// grpcMessage writes a message for gRPC, whose numbers are doubles. A number that a
// double cannot hold is an error: it would arrive as another one.
func grpcMessage(m a2a.Message) (json.RawMessage, error) {
	wire, err := a2a.WireMessage(m)
	if err != nil {
		return nil, err
	}
	if err := checkNumbers(wire); err != nil {
		return nil, err
	}
	if err := protojson.Unmarshal(wire, &a2apb.Message{}); err != nil {
		return nil, fmt.Errorf("it does not fit into protocol buffers")
	}
	return wire, nil
}

// fill puts the exact message and metadata into a request that the SDK made.
func (g *grpcCall) fill(request any) error {
	send, ok := request.(*a2apb.SendMessageRequest)
	if !ok {
		return nil
	}
	err := protojson.Unmarshal(g.values["message"], send.GetMessage())
	if metadata, ok := g.values["metadata"]; ok && err == nil {
		if err = checkNumbers(metadata); err == nil {
			err = protojson.Unmarshal(metadata, send.GetMetadata())
		}
	}
	if err != nil {
		return &Error{Delivery: NotSent, Message: "The message cannot be sent over gRPC: " + err.Error() + ".", Err: err}
	}
	return nil
}

// grpcJSON returns protocol buffers as their JSON, the same bytes for the same
// message. What JSON has no form for is mended.
func grpcJSON(m proto.Message) ([]byte, error) {
	if event, ok := m.(*a2apb.StreamResponse); ok && event.GetPayload() == nil {
		if unknown := event.ProtoReflect().GetUnknown(); len(unknown) > 0 {
			return json.Marshal(map[string]string{"protobuf": base64.StdEncoding.EncodeToString(unknown)})
		}
	}
	room := proto.Size(m)
	room += room / 8 // for names and escapes; a buffer that grows costs several times what is in it
	written, err := protojson.MarshalOptions{}.MarshalAppend(make([]byte, 0, room), m)
	if err != nil {
		mend(m.ProtoReflect())
		written, err = protojson.Marshal(m)
	}
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer // protojson varies its spaces
	compact.Grow(len(written))
	err = json.Compact(&compact, written)
	return compact.Bytes(), err
}

// mend changes what has no form in JSON: a value of no kind becomes null, a number
// that is none its name, and a time beyond the years of four digits is left out.
func mend(m protoreflect.Message) {
	if value, ok := m.Interface().(*structpb.Value); ok {
		mendValue(value)
	}
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.IsMap():
			if field.MapValue().Message() != nil {
				v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool { mend(v.Message()); return true })
			}
		case field.Message() == nil:
		case field.IsList():
			for i := range v.List().Len() {
				mend(v.List().Get(i).Message())
			}
		default:
			if at, ok := v.Message().Interface().(*timestamppb.Timestamp); ok && at.CheckValid() != nil {
				m.Clear(field)
				break
			}
			mend(v.Message())
		}
		return true
	})
}

func mendValue(v *structpb.Value) {
	switch kind := v.GetKind().(type) {
	case nil:
		v.Kind = &structpb.Value_NullValue{}
	case *structpb.Value_NumberValue:
		if n := kind.NumberValue; math.IsNaN(n) || math.IsInf(n, 0) {
			v.Kind = &structpb.Value_StringValue{StringValue: strconv.FormatFloat(n, 'g', -1, 64)}
		}
	}
}

// checkNumbers reports the first number in valid JSON that is another one as a double.
func checkNumbers(document []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	for {
		token, err := decoder.Token()
		if err != nil {
			return nil // the end
		}
		if number, ok := token.(json.Number); ok && !isDouble(string(number)) {
			return fmt.Errorf("the number %s has more digits than gRPC carries", cleaned(string(number), 40))
		}
	}
}

// isDouble reports whether a double holds a JSON number: whether the shortest
// decimal that stands for the double has the same value.
func isDouble(number string) bool {
	double, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return false
	}
	digits, exponent := normalized(number)
	otherDigits, otherExponent := normalized(strconv.FormatFloat(double, 'e', -1, 64))
	return digits == otherDigits && exponent == otherExponent
}

// normalized returns a decimal number as its sign and digits without zeros around
// them, and the power of ten of the last digit.
func normalized(number string) (digits string, exponent int) {
	mantissa, power, _ := strings.Cut(strings.ToLower(number), "e")
	exponent, _ = strconv.Atoi(power)
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed) - len(fraction)
	if trimmed == "" {
		return "", 0
	}
	if negative {
		trimmed = "-" + trimmed
	}
	return trimmed, exponent
}
