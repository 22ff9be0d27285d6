package redisstore

import (
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

//go:embed scripts/*.lua
var scriptFiles embed.FS

// script names a script that is bound to an epoch.
type script int

const (
	scriptAppendGroup script = iota
	scriptAppendInbox
	scriptOpen
	scriptRead
	scriptCursor
	scriptMove
	scriptRemove
	scriptTrim
	scriptAddMembers
	scriptCount
)

// scriptNames are the files below scripts/.
var scriptNames = [scriptCount]string{
	scriptAppendGroup: "append_group", scriptAppendInbox: "append_inbox", scriptOpen: "open", scriptRead: "read",
	scriptCursor: "cursor", scriptMove: "move", scriptRemove: "remove", scriptTrim: "trim", scriptAddMembers: "add_members",
}

// scriptSet is the scripts of one epoch. Its SHAs differ from every other
// epoch's, and the Redis processes that know them live in this epoch.
type scriptSet struct {
	epoch uint64
	text  [scriptCount]string
	sha   [scriptCount]string
}

// markPadding makes the marking field of a dedup bucket longer than what Redis
// keeps in a listpack (hash-max-listpack-value 64).
const markPadding = 64

// newScriptSet writes the epoch into every script.
func newScriptSet(epoch uint64) (*scriptSet, error) {
	set := &scriptSet{epoch: epoch}
	number := strconv.FormatUint(epoch, 10)
	literals := strings.NewReplacer("@EPOCH@", number, "@MARK@", number+strings.Repeat(".", markPadding))
	for s := range scriptCount {
		text, err := scriptText(scriptNames[s])
		if err != nil {
			return nil, err
		}
		set.text[s] = "local EPOCH = '" + number + "'\n" + literals.Replace(text)
		sum := sha1.Sum([]byte(set.text[s])) // Redis names scripts by SHA-1
		set.sha[s] = hex.EncodeToString(sum[:])
	}
	return set, nil
}

// scriptText returns a script with its includes and without its comments,
// which every process would have to keep in memory. A line "-- include NAME"
// stands for the text of another file.
func scriptText(name string) (string, error) {
	b, err := scriptFiles.ReadFile("scripts/" + name + ".lua")
	if err != nil {
		return "", fmt.Errorf("script %s: %w", name, err)
	}
	var out strings.Builder
	for line := range strings.Lines(string(b)) {
		code := strings.TrimSpace(line)
		if included, ok := strings.CutPrefix(code, "-- include "); ok {
			text, err := scriptText(included)
			if err != nil {
				return "", err
			}
			out.WriteString(text)
		} else if code != "" && !strings.HasPrefix(code, "--") {
			out.WriteString(line)
		}
	}
	return out.String(), nil
}
