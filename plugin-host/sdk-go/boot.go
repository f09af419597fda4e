package plugin

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"

	pluginv1 "clawd.dev/plugin/gen/clawd/plugin/v1"
)

const (
	// helloDescriptor is where the host waits for the one line of Hello.
	helloDescriptor = 3
	maxBootBytes    = 64 * 1024
	// bootVersion is the only form of Boot and Hello that this library speaks.
	bootVersion = 1
	// sdkName says which library it is, for logs.
	sdkName = "clawd-sdk-go/1"
)

// majors of clawd.plugin that this library speaks, the best first.
var majors = []uint32{2, 1}

// readBoot reads the host's first line.
func readBoot(stdin *bufio.Reader) (*pluginv1.Boot, error) {
	var line strings.Builder
	for {
		piece, err := stdin.ReadSlice('\n')
		line.Write(piece)
		if err == nil {
			break
		}
		if err != bufio.ErrBufferFull {
			return nil, fmt.Errorf("standard input ended before the Boot line: %w", err)
		}
		if line.Len() > maxBootBytes {
			return nil, fmt.Errorf("the first line on standard input has more than %d bytes, so it is no Boot line", maxBootBytes)
		}
	}
	boot := &pluginv1.Boot{}
	// A newer host may say more than this library knows.
	lenient := protojson.UnmarshalOptions{DiscardUnknown: true}
	if err := lenient.Unmarshal([]byte(line.String()), boot); err != nil {
		return nil, fmt.Errorf("the first line on standard input is not a Boot line: %w", err)
	}
	return boot, nil
}

// chooseMajor gives the highest major that both sides speak.
func chooseMajor(boot *pluginv1.Boot) (uint32, error) {
	if boot.BootVersion != bootVersion {
		return 0, fmt.Errorf("%s knows form %d of Boot, the host speaks form %d", sdkName, bootVersion, boot.BootVersion)
	}
	for _, major := range majors {
		if slices.Contains(boot.ProtocolMajors, major) {
			return major, nil
		}
	}
	return 0, fmt.Errorf("%s speaks clawd.plugin major 1 and 2, the host speaks %v", sdkName, boot.ProtocolMajors)
}

// sayHello tells the host that the socket listens, or why it never will. The descriptor is closed: children of the
// plugin have no business with it.
func sayHello(to io.WriteCloser, hello *pluginv1.Hello) error {
	hello.BootVersion = bootVersion
	hello.Sdk = sdkName
	line, err := protojson.Marshal(hello)
	if err != nil {
		return fmt.Errorf("the hello cannot be written: %w", err)
	}
	if _, err := to.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("the host does not hear the hello on descriptor %d: %w", helloDescriptor, err)
	}
	return to.Close()
}
