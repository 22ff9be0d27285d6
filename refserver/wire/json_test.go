package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
)

func TestDecodeJSON(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     string // part of the error, "" for none
	}{
		{"a send", `{"send":{"ref":1,"to":"g:7","client_msg_id":"x","body":"hello"}}`, ""},
		{"spaces around", " \n{\"open\":{}}\t ", ""},
		{"largest seq", `{"ack":{"up_to":9007199254740991}}`, ""},
		{"null, true and a colon in a body", `{"send":{"body":"null \"N\": true:"}}`, ""},
		{"a name as a value", `{"send":{"body":"clientMsgId"}}`, ""},
		{"nothing", ``, "ends too early"},
		{"cut off", `{"send":{`, "ends too early"},
		{"syntax", `{"send":}`, "at byte 9"},
		{"unknown field", `{"sned":{}}`, `unknown field "sned"`},
		{"unknown field inside", `{"send":{"too":1}}`, `unknown field "too"`},
		{"camel case", `{"send":{"clientMsgId":"x"}}`, `unknown field "clientMsgId"`},
		{"capitals", `{"Send":{}}`, `unknown field "Send" at byte 2; names are in lower case`},
		{"capitals before a space", `{"SEND" : {}}`, `unknown field "SEND"`},
		{"escaped name", `{"\u0073end":{}}`, `unknown field`},
		{"a letter that folds to s", `{"ſend":{}}`, `unknown field "ſend"`},
		{"two values", `{"open":{}}{"open":{}}`, "ends at byte 11"},
		{"trailing word", `{"open":{}} x`, "something follows"},
		{"trailing bracket", `{"open":{}}]`, "something follows"},
		{"null", `null`, "null at byte 1"},
		{"null field", `{"send":null}`, "null at byte 9"},
		{"null in a list", `{"hello":{"resume":[null]}}`, "null at byte 21"},
		{"a string for a number", `{"ack":{"up_to":"5"}}`, "ack.up_to is a string"},
		{"negative", `{"ack":{"up_to":-1}}`, "ack.up_to is a number -1"},
		{"fraction", `{"ack":{"up_to":1.5}}`, "ack.up_to is a number 1.5"},
		{"too large for uint32", `{"page_request":{"limit":4294967296}}`, "page_request.limit is a number"},
		{"a list", `[]`, "the value is a array"},
		{"not UTF-8", "{\"send\":{\"body\":\"\xff\"}}", "not valid UTF-8"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var f Frame
			err := DecodeJSON([]byte(tc.in), &f)
			if tc.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantCode(t, err, CodeBadRequest)
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%q has no %q", err, tc.want)
			}
		})
	}
}

func TestEncodeJSON(t *testing.T) {
	b, err := EncodeJSON(&SendResult{Ref: 1, ClientMsgId: "<a>", Conversation: "g:7", Epoch: 2, Seq: 1<<53 - 1})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"ref":1,"client_msg_id":"<a>","conversation":"g:7","epoch":2,"seq":9007199254740991}`; string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
	if _, err := EncodeJSON(func() {}); err == nil {
		t.Error("a func was encoded")
	}
}

// FuzzDecodeJSON: what is accepted is valid JSON for encoding/json too, and
// comes back the same after encoding.
func FuzzDecodeJSON(f *testing.F) {
	for _, s := range samples() {
		b, _ := EncodeJSON(s)
		f.Add(b)
	}
	f.Add([]byte(`{"hello":{"resume":[null]}} `))
	f.Add([]byte(`{"send":{"body":"\\\"n\ud800"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var got Frame
		if err := DecodeJSON(b, &got); err != nil {
			wantCode(t, err, CodeBadRequest)
			return
		}
		if !json.Valid(b) {
			t.Fatalf("%q was accepted", b)
		}
		var loose any
		if err := json.Unmarshal(b, &loose); err != nil {
			t.Fatal(err)
		}
		noNulls(t, loose)
		again, err := EncodeJSON(&got)
		if err != nil {
			t.Fatal(err)
		}
		var back Frame
		if err := DecodeJSON(again, &back); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		if !proto.Equal(&got, &back) {
			t.Fatalf("%q: %v became %v", b, &got, &back)
		}
	})
}

func noNulls(t *testing.T, v any) {
	switch v := v.(type) {
	case nil:
		t.Fatal("null was accepted")
	case []any:
		for _, e := range v {
			noNulls(t, e)
		}
	case map[string]any:
		for k, e := range v {
			if k != strings.ToLower(k) {
				t.Fatalf("name %q was accepted", k)
			}
			noNulls(t, e)
		}
	}
}
