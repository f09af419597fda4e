package plugin

import (
	"context"
	"fmt"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "clawd.dev/plugin/gen/clawd/plugin/v1"
)

// Kind says what texts are embedded for.
type Kind string

// What is looked for, and what is kept.
const (
	Query   Kind = "query"
	Passage Kind = "document"
)

type embedder struct {
	id         string
	dimensions uint32
	embed      func(ctx context.Context, texts []string, kind Kind) ([][]float32, error)
}

// Embedder declares an embedder. The id names it in this form for ever: what changes the vectors needs a new one. One vector a
// text, in their order; at most 256 texts.
func (p *Plugin) Embedder(
	id string,
	dimensions uint32,
	embed func(ctx context.Context, texts []string, kind Kind) ([][]float32, error),
) {
	p.embedders = append(p.embedders, &embedder{id: id, dimensions: dimensions, embed: embed})
}

// Document is one of a memory source. ID names it for ever, e.g. a path or an address; Title is for people.
type Document struct {
	ID, Text, Title string
}

type memorySource struct {
	name, description string
	list              func(ctx context.Context, host *Host, give func(Document) error) error
}

// MemorySource declares a source of documents for memory. The function gives all of them, one at a time; giving waits while the
// host is slower, and an error of it means that nobody reads any more.
func (p *Plugin) MemorySource(
	name, description string,
	list func(ctx context.Context, host *Host, give func(Document) error) error,
) {
	p.sources = append(p.sources, &memorySource{name: name, description: description, list: list})
}

type embedServer struct {
	pluginv1.UnimplementedEmbedServiceServer
	life *life
}

func (s *embedServer) Embed(ctx context.Context, said *pluginv1.EmbedRequest) (*pluginv1.EmbedResponse, error) {
	for _, declared := range s.life.plugin.embedders {
		if declared.id == said.Embedder {
			return s.life.embed(ctx, declared, said)
		}
	}
	return nil, status.Errorf(codes.NotFound, "there is no embedder %q here", said.Embedder)
}

func (l *life) embed(ctx context.Context, declared *embedder, said *pluginv1.EmbedRequest) (*pluginv1.EmbedResponse, error) {
	done, err := l.work.begin()
	if err != nil {
		return nil, err
	}
	defer done()
	kind := Passage
	if said.IsQuery {
		kind = Query
	}
	answer := &pluginv1.EmbedResponse{}
	err = safely("the embedder "+declared.id, func() error {
		vectors, err := declared.embed(l.withHost(ctx), said.Texts, kind)
		for _, values := range vectors {
			answer.Vectors = append(answer.Vectors, &pluginv1.Vector{Values: values})
		}
		return err
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: embedder %s: %v\n", declared.id, err)
		return nil, told(err)
	}
	return answer, nil
}

type sourceServer struct {
	pluginv1.UnimplementedMemorySourceServiceServer
	life *life
}

func (s *sourceServer) ListDocuments(
	said *pluginv1.ListDocumentsRequest,
	stream grpc.ServerStreamingServer[pluginv1.ListDocumentsResponse],
) error {
	for _, source := range s.life.plugin.sources {
		if source.name == said.Source {
			return s.life.listDocuments(source, stream)
		}
	}
	return status.Errorf(codes.NotFound, "there is no memory source %q here", said.Source)
}

func (l *life) listDocuments(source *memorySource, stream grpc.ServerStreamingServer[pluginv1.ListDocumentsResponse]) error {
	done, err := l.work.begin()
	if err != nil {
		return err
	}
	defer done()
	give := func(document Document) error {
		return stream.Send(&pluginv1.ListDocumentsResponse{
			DocumentId: readable(document.ID),
			Text:       readable(document.Text),
			Title:      readable(document.Title),
		})
	}
	err = safely("the memory source "+source.name, func() error {
		return source.list(stream.Context(), l.host(), give)
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: memory source %s: %v\n", source.name, err)
		return told(err)
	}
	return nil
}
