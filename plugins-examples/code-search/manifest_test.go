package main

import "testing"

func TestTheManifestSaysWhatTheProgramDeclares(t *testing.T) {
	if err := newPlugin().CheckManifest("plugin.json"); err != nil {
		t.Error(err)
	}
}
