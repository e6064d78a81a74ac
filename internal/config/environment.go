package config

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"sepad/internal/merchant"
)

const (
	settingPrefix = "SEPAD_"
	fileSuffix    = "_FILE"
)

// foreign are variables that begin like ours and are not: those of our tests, and
// those that Kubernetes sets for a service which is called sepad.
var foreign = regexp.MustCompile(`^SEPAD_((TEST|SIM)_.*|(.*_)?SERVICE_(HOST|PORT.*)|(.*_)?PORT(_.*)?)$`)

// Complete takes from the environment what flags leave: secrets that lie in files.
// Variables that are no settings are noted, for a misspelt one would change
// nothing in silence. What is found is told by Access.
func (s *Database) Complete(environ []string) {
	s.problems = complete(fieldsOf(s), environ)
}

// Complete does the same for all settings. What is found is told by Config.
func (s *Settings) Complete(environ []string) {
	s.problems = complete(fieldsOf(s), environ)
}

func complete(fields []settingField, environ []string) (problems []string) {
	variables := map[string]string{}
	for _, variable := range environ {
		if name, value, _ := strings.Cut(variable, "="); strings.HasPrefix(name, settingPrefix) && value != "" {
			variables[name] = value
		}
	}
	problems = unknownVariables(variables)
	for _, field := range fields {
		path := variables[field.Name+fileSuffix]
		switch {
		case !field.Secret || path == "":
		case variables[field.Name] != "":
			problems = append(problems, fmt.Sprintf("%s and %s are both set: give one of them", field.Name, field.Name+fileSuffix))
		case *field.text == "": // a flag wins
			text, err := os.ReadFile(path)
			if *field.text = strings.TrimSpace(string(text)); err != nil {
				problems = append(problems, fmt.Sprintf("%s: %s", field.Name+fileSuffix, err))
			} else if *field.text == "" {
				problems = append(problems, fmt.Sprintf("%s: the file is empty", field.Name+fileSuffix))
			}
		}
	}
	return problems
}

// unknownVariables says of each what it was probably meant to be.
func unknownVariables(variables map[string]string) (problems []string) {
	var known []string
	for _, setting := range All() {
		known = append(known, setting.Name)
		if setting.Secret {
			known = append(known, setting.Name+fileSuffix)
		}
	}
	for name := range variables {
		if !slices.Contains(known, name) && !foreign.MatchString(name) {
			problems = append(problems, name+" is not a setting."+merchant.DidYouMean(name, known))
		}
	}
	slices.Sort(problems)
	return problems
}
