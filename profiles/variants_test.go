package profiles

import (
	"reflect"
	"testing"
)

// A variant with crashes is the other one and its crashes; what it sets wins.
func TestCrashOf(t *testing.T) {
	yaml := head + `
clients: {online: 50%}
traffic: {group: {}, login: {}}
variants:
  - {name: g3, set: {server.group: ids, clients.ack.policy: each, clients.send.retries: 5}}
  - name: g3 crash
    crash_of: g3
    set: {clients.crash.between: pull-and-ack, clients.send.retries: 7}
    expect: ["crashes > 0"]
  - {name: plain}
  - {name: plain crash, crash_of: plain, set: {clients.crash.between: mid-sync}}`
	settings := mustResolve(t, yaml)
	crash := settings[1]
	if crash.CrashOf != "g3" || settings[0].CrashOf != "" || !reflect.DeepEqual(crash.Expect, []string{"crashes > 0"}) {
		t.Errorf("crash of %q and %q, expect %q", crash.CrashOf, settings[0].CrashOf, crash.Expect)
	}
	want := *settings[0].Profile
	want.Clients.Crash.Between, want.Clients.Send.Retries = CrashPullAndAck, 7
	if !reflect.DeepEqual(crash.Profile, &want) {
		t.Errorf("got  %+v\nwant %+v", crash.Profile, &want)
	}
	if settings[0].Profile.Clients.Crash.Between != CrashOff || settings[0].Profile.Clients.Send.Retries != 5 {
		t.Error("the crash got into the variant that it is of")
	}
	if p := settings[3].Profile; settings[3].CrashOf != "plain" || p.Server.Group != GroupCursor || p.Clients.Crash.Between != CrashMidSync {
		t.Errorf("crash of a variant that sets nothing: %+v", settings[3])
	}
	if v := mustParse(t, yaml).Variants()[1]; v.CrashOf != "g3" || len(v.Set) != 2 {
		t.Errorf("as it was written: %+v", v)
	}
}
