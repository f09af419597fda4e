package plugin

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"

	pluginv1 "clawd.dev/plugin/gen/clawd/plugin/v1"
)

const (
	// hostTime is how long the host may take for what needs no person, where the context has no end of its own.
	hostTime = 30 * time.Second
	// artifactPieceBytes is the most that one message of an artifact holds.
	artifactPieceBytes = 1024 * 1024
)

// Host is what a plugin knows of its host, and may ask of it. What the host refuses comes as an [Error].
type Host struct {
	life *life
}

// Recollection is one hit of a search in memory: a text, and where it is from (a path or a note's id).
type Recollection struct {
	Text, Source string
}

// Granted is what the plugin may touch, in the permission language: what plugin.json asks for, or less.
func (h *Host) Granted() []string { return h.life.know().granted }

// DataFolder is a folder of its own that it may write, kept between its lives; empty when it was granted none.
func (h *Host) DataFolder() string { return h.life.know().dataFolder }

// Config gives the settings of this moment: the defaults of plugin.json under what a person gave in config.toml.
func (h *Host) Config() map[string]any { return h.life.know().config.AsMap() }

// Recall searches long-term memory, best first; a limit of 0 means 5. Needs the permission "memory=read".
func (h *Host) Recall(ctx context.Context, query string, limit int) ([]Recollection, error) {
	ctx, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	said, err := h.life.client.Recall(ctx, &pluginv1.RecallRequest{Query: readable(query), Limit: uint32(max(limit, 0))})
	if err != nil {
		return nil, refusalOf(err)
	}
	hits := make([]Recollection, 0, len(said.Hits))
	for _, hit := range said.Hits {
		hits = append(hits, Recollection{Text: hit.Text, Source: hit.Source})
	}
	return hits, nil
}

// Value reads a value of the plugin's own store into what into points to; false when there is none.
func (h *Host) Value(ctx context.Context, key string, into any) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	said, err := h.life.client.GetValue(ctx, &pluginv1.GetValueRequest{Key: key})
	if err != nil {
		return false, refusalOf(err)
	}
	if !said.Found {
		return false, nil
	}
	return true, decodeValue(said.Value, into)
}

// SetValue keeps a value that survives the plugin: a key of 1 to 256 characters, at most 64 KiB of JSON. It is durable on return.
func (h *Host) SetValue(ctx context.Context, key string, value any) error {
	encoded, err := valueOf(value)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	_, err = h.life.client.SetValue(ctx, &pluginv1.SetValueRequest{Key: key, Value: encoded})
	return refusalOf(err)
}

// DeleteValue takes a value out; it need not be there.
func (h *Host) DeleteValue(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	_, err := h.life.client.DeleteValue(ctx, &pluginv1.DeleteValueRequest{Key: key})
	return refusalOf(err)
}

// Keys gives the keys that begin with prefix, in their order.
func (h *Host) Keys(ctx context.Context, prefix string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	said, err := h.life.client.ListKeys(ctx, &pluginv1.ListKeysRequest{Prefix: prefix})
	return said.GetKeys(), refusalOf(err)
}

// WriteArtifact keeps bytes of any length, for what is too large for a message, and gives their id: see [Artifact]. The type
// is a MIME type, e.g. "image/png".
func (h *Host) WriteArtifact(ctx context.Context, mimeType string, data []byte) (id string, err error) {
	return h.AppendArtifact(ctx, "", mimeType, data)
}

// AppendArtifact adds bytes to the artifact of this id; none begins a new one.
func (h *Host) AppendArtifact(ctx context.Context, id, mimeType string, data []byte) (string, error) {
	// At least one message, so that an empty artifact is one too.
	for first := true; first || len(data) > 0; first = false {
		piece := data[:min(len(data), artifactPieceBytes)]
		data = data[len(piece):]
		limited, cancel := context.WithTimeout(ctx, hostTime)
		said, err := h.life.client.WriteArtifact(limited, &pluginv1.WriteArtifactRequest{ArtifactId: id, Data: piece, MimeType: mimeType})
		cancel()
		if err != nil {
			return id, refusalOf(err)
		}
		id = said.ArtifactId
	}
	return id, nil
}

// ReadArtifact gives at most limit bytes of an artifact from offset on.
func (h *Host) ReadArtifact(ctx context.Context, id string, offset int64, limit int) ([]byte, error) {
	var all []byte
	for len(all) < limit {
		most := min(limit-len(all), artifactPieceBytes)
		limited, cancel := context.WithTimeout(ctx, hostTime)
		said, err := h.life.client.ReadArtifact(limited, &pluginv1.ReadArtifactRequest{
			ArtifactId:  id,
			OffsetBytes: float64(offset + int64(len(all))),
			LimitBytes:  uint32(most),
		})
		cancel()
		if err != nil {
			return nil, refusalOf(err)
		}
		if len(said.Data) == 0 {
			break
		}
		all = append(all, said.Data...)
	}
	return all, nil
}

// Secret reads a text of the plugin's own that stands in no journal and is blotted out in its log; false when there is none.
func (h *Host) Secret(ctx context.Context, key string) (value string, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	said, err := h.life.client.GetSecret(ctx, &pluginv1.GetSecretRequest{Key: key})
	return said.GetValue(), said.GetFound(), refusalOf(err)
}

// SetSecret keeps one: at most 32, by keys of 1 to 64 characters, of 64 KiB each. An empty text takes it out. It is durable on return.
func (h *Host) SetSecret(ctx context.Context, key, value string) error {
	ctx, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	_, err := h.life.client.SetSecret(ctx, &pluginv1.SetSecretRequest{Key: key, Value: value})
	return refusalOf(err)
}

type hostKey struct{}

// HostFrom gives the host to what gets none beside its context: the functions given to [Settings] and [Plugin.Embedder]. It is nil
// for a context that does not come from there.
func HostFrom(ctx context.Context) *Host {
	host, _ := ctx.Value(hostKey{}).(*Host)
	return host
}

func (l *life) host() *Host { return &Host{life: l} }

// withHost is for [HostFrom].
func (l *life) withHost(ctx context.Context) context.Context {
	return context.WithValue(ctx, hostKey{}, l.host())
}

// dialHost opens no connection before the first call.
func dialHost(path, token string) (*grpc.ClientConn, error) {
	return grpc.NewClient("unix:"+path,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithPerRPCCredentials(bearer("Bearer "+token)),
		grpc.WithDisableServiceConfig(),
		grpc.WithNoProxy(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessageBytes), grpc.MaxCallSendMsgSize(maxMessageBytes)),
	)
}

// bearer shows a token with every call.
type bearer string

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": string(b)}, nil
}

// RequireTransportSecurity is false: the unix socket is the plugin's own.
func (b bearer) RequireTransportSecurity() bool { return false }

func structOf(value any) (*structpb.Struct, error) {
	if value == nil {
		return &structpb.Struct{}, nil
	}
	encoded, err := valueOf(value)
	if err != nil {
		return nil, err
	}
	if fields := encoded.GetStructValue(); fields != nil {
		return fields, nil
	}
	return nil, Errorf(Invalid, "a %T is no JSON object; give a struct or a map", value)
}
