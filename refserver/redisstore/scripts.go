package redisstore

import (
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"fmt"
	"slices"
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
	scriptLogin
	scriptRead
	scriptCursor
	scriptMove
	scriptRemove
	scriptReadInbox
	scriptCountSenders
	scriptTrim
	scriptAddMembers
	scriptAddRow
	scriptFinish
	scriptRelease
	scriptUnfinished
	scriptRecount
	scriptOpenRows
	scriptRows
	scriptReadRows
	scriptTakeIDs
	scriptRemoveRows
	scriptBodies
	scriptCount
)

// scriptNames are the files below scripts/.
var scriptNames = [scriptCount]string{
	scriptAppendGroup: "append_group", scriptAppendInbox: "append_inbox", scriptOpen: "open", scriptLogin: "login", scriptRead: "read",
	scriptCursor: "cursor", scriptMove: "move", scriptRemove: "remove",
	scriptReadInbox: "read_inbox", scriptCountSenders: "count_senders", scriptTrim: "trim", scriptAddMembers: "add_members",
	scriptAddRow: "add_row", scriptFinish: "finish", scriptRelease: "release", scriptUnfinished: "unfinished", scriptRecount: "recount",
	scriptOpenRows: "open_rows", scriptRows: "rows", scriptReadRows: "read_rows", scriptTakeIDs: "take_ids", scriptRemoveRows: "remove_rows", scriptBodies: "bodies",
}

// scriptFile is the file of a script in the design that is chosen.
func scriptFile(s script, cfg Config) string {
	switch {
	case s == scriptAppendGroup && cfg.keepsRows():
		return "append_rows"
	case cfg.keepsTimes() && slices.Contains([]script{scriptAppendGroup, scriptCursor, scriptMove, scriptTrim, scriptAddMembers}, s):
		return scriptNames[s] + "_time"
	}
	return scriptNames[s]
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

// newScriptSet writes the epoch, and what is switched on, into every script:
// constants cost a send nothing.
func newScriptSet(epoch uint64, cfg Config) (*scriptSet, error) {
	set := &scriptSet{epoch: epoch}
	number := strconv.FormatUint(epoch, 10)
	literals := strings.NewReplacer("@EPOCH@", number, "@MARK@", number+strings.Repeat(".", markPadding),
		"@DEDUP@", onOff(!cfg.DedupOff), "@SENDERS@", onOff(cfg.SenderIndex), "@GROUP@", string(cfg.Group), "@CURSOR@", string(cfg.Cursor))
	for s := range scriptCount {
		text, err := scriptText(scriptFile(s, cfg))
		if err != nil {
			return nil, err
		}
		set.text[s] = "local EPOCH = '" + number + "'\n" + literals.Replace(text)
		sum := sha1.Sum([]byte(set.text[s])) // Redis names scripts by SHA-1
		set.sha[s] = hex.EncodeToString(sum[:])
	}
	return set, nil
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
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
