package profiles

import (
	"fmt"
	"strings"
)

// maxSends bounds what one run may plan; more is a slip of the pen.
const maxSends = 50_000_000

// checker looks for impossible and doubtful combinations in one resolved
// setting. A check is left out where one of its keys already has a problem.
type checker struct {
	source   *Source
	set      map[string]assigned
	p        *Profile
	problems Problems
	warnings []string
}

func (c *checker) all() {
	c.population()
	c.online()
	c.traffic()
	c.flow("traffic.group", c.p.Traffic.Group)
	c.flow("traffic.direct", c.p.Traffic.Direct)
	c.backlog()
	c.logins()
	c.rungs()
	c.idleSettings()
	c.crash()
	c.window()
	c.ackTime()
	c.uniformRace()
	c.resends()
	c.faults()
}

// sound tells that none of the keys, nor a section above them, is broken.
func (c *checker) sound(keys ...string) bool {
	for _, k := range keys {
		for at := k; ; {
			if c.source.base.broken[at] {
				return false
			}
			i := strings.LastIndex(at, ".")
			if i < 0 {
				break
			}
			at = at[:i]
		}
	}
	return true
}

// blame gives the position of that one of the keys that was set most
// specifically (flag, variant, file); of equals, the first. A key that nobody
// set is found at the section it would stand in.
func (c *checker) blame(keys ...string) Pos {
	best := assigned{}
	for _, k := range keys {
		if a, ok := c.set[k]; ok && a.layer > best.layer {
			best = a
		}
	}
	if best.layer != layerDefault {
		return best.at
	}
	for at := keys[0]; ; {
		i := strings.LastIndex(at, ".")
		if i < 0 {
			return Pos{File: c.source.file, Line: 1, Col: 1}
		}
		at = at[:i]
		if p, ok := c.source.base.sections[at]; ok {
			return p
		}
	}
}

func (c *checker) problem(at Pos, right, format string, args ...any) {
	c.problems = append(c.problems, Problem{Pos: at, What: fmt.Sprintf(format, args...), Right: right})
}

func (c *checker) warn(at Pos, right, format string, args ...any) {
	c.warnings = append(c.warnings, Problem{Pos: at, What: fmt.Sprintf(format, args...), Right: right}.Error())
}

// overridden warns where a flag makes a variant something else than its name says.
func (c *checker) overridden(v variant, flags map[string]assigned) {
	for _, k := range c.source.schema.keys {
		f, byFlag := flags[k.Name]
		s, byVariant := v.set[k.Name]
		if byFlag && byVariant && c.source.schema.text(k.Name, f.value) != c.source.schema.text(k.Name, s.value) {
			c.warn(f.at, "leave the flag out to keep the variant", "variant %s sets %s to %s, the flag overrides it", v.name, k.Name, c.source.schema.text(k.Name, s.value))
		}
	}
}
