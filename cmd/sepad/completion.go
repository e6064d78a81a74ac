package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (completionCommand) Help() string {
	return "For this shell alone: source <(sepad completion bash), or sepad completion fish | source. For every one: write it where your shell looks for completions."
}

// completions ask the program itself, so that they never are of another version.
var completions = map[string]string{
	"bash": `_sepad() {
	local IFS=$'\n'
	COMPREPLY=($(sepad __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _sepad sepad
`,
	"zsh": `#compdef sepad
_sepad() {
	local -a found
	found=(${(f)"$(sepad __complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
	(( $#found )) && compadd -- $found || _files
}
compdef _sepad sepad
`,
	"fish": `complete -c sepad -f -a '(sepad __complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
}

func (c *completionCommand) Run(p *program) error {
	_, err := fmt.Fprint(p.stdout, completions[c.Shell])
	return err
}

// askedByShell is what shells call to have a line completed. It is no command: what
// follows may be half a flag, which no parser takes.
const askedByShell = "__complete"

func (p *program) complete(root *kong.Node, words []string) int {
	for _, word := range complete(root, words) {
		fmt.Fprintln(p.stdout, word)
	}
	return 0
}

// complete gives what the last of the words can become: commands, values or flags.
func complete(node *kong.Node, words []string) (found []string) {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	var flag *kong.Flag
	for _, word := range words[:len(words)-1] {
		flag = nil
		if child := childOf(node, word); child != nil {
			node = child
		} else if name, isFlag := strings.CutPrefix(word, "--"); isFlag {
			flag = flagOf(node, name)
		}
	}
	switch {
	case flag != nil && !flag.IsBool():
		found = flag.EnumSlice()
	case strings.HasPrefix(last, "-"):
		for _, group := range node.AllFlags(true) {
			for _, f := range group {
				found = append(found, "--"+f.Name)
			}
		}
	default:
		for _, child := range node.Children {
			if !child.Hidden {
				found = append(found, child.Name)
			}
		}
		for _, argument := range node.Positional {
			found = append(found, argument.EnumSlice()...)
		}
		if node.Name == "trigger" {
			for kind := range triggers {
				found = append(found, string(kind))
			}
		}
	}
	found = slices.DeleteFunc(found, func(word string) bool { return word == "" || !strings.HasPrefix(word, last) })
	slices.Sort(found)
	return slices.Compact(found)
}

func childOf(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name && !child.Hidden {
			return child
		}
	}
	return nil
}

func flagOf(node *kong.Node, name string) *kong.Flag {
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			if f.Name == name {
				return f
			}
		}
	}
	return nil
}
