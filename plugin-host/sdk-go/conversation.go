package plugin

import (
	"context"
	"reflect"

	"google.golang.org/protobuf/types/known/structpb"

	pluginv1 "clawd.dev/plugin/gen/clawd/plugin/v1"
)

// Conversation is what belongs to a call, an event or a command: as long as that runs, the plugin may speak in its conversation.
type Conversation struct {
	*Host
	// CallID names it to the host's services.
	CallID string
	// SessionID names the conversation.
	SessionID string
	// Workspace is the folder that the conversation works in, absolute. It is only told: what may be read there is a matter of the grant.
	Workspace string
	show      func(line string)
}

// Progress shows a line to whoever waits. It is never stored.
func (c *Conversation) Progress(line string) { c.show(line) }

// Ask asks the person a question of at most 500 characters with yes or no. Nobody there, or nobody in time, is a no that
// was not answered.
func (c *Conversation) Ask(ctx context.Context, question string) (yes, answered bool, err error) {
	said, err := c.life.client.Ask(ctx, &pluginv1.AskRequest{CallId: c.CallID, Question: readable(question)})
	return said.GetYes(), said.GetAnswered(), refusalOf(err)
}

// Form is the person's word to a question with fields to fill in.
type Form[F any] struct {
	// Yes and Answered are as [Conversation.Ask] has them.
	Yes, Answered bool
	// Filled is what was filled in, with a yes.
	Filled F
}

// AskForm asks as [Conversation.Ask] does, and the person fills in an F, too: a struct of texts, numbers, truth values and
// choices, with tags (see [Schema]). What looks like a password is not asked for.
func AskForm[F any](ctx context.Context, c *Conversation, question string) (Form[F], error) {
	var form Form[F]
	schema, err := structOf(objectSchema(reflect.TypeFor[F]()))
	if err != nil {
		return form, err
	}
	asked := &pluginv1.AskRequest{CallId: c.CallID, Question: readable(question), RequestedSchema: schema}
	said, err := c.life.client.Ask(ctx, asked)
	if err != nil {
		return form, refusalOf(err)
	}
	form.Yes, form.Answered = said.Yes, said.Answered
	if !said.Yes {
		return form, nil
	}
	content := said.Content
	if content == nil {
		content = &structpb.Struct{}
	}
	return form, decode(content, &form.Filled)
}

// CallTool calls another tool by its full name, through all its gates, and gives what a model would read. What the tool refuses is an
// [Error], too. Needs the permission "tool=NAME".
func (c *Conversation) CallTool(ctx context.Context, tool string, args any) (string, error) {
	encoded, err := structOf(args)
	if err != nil {
		return "", err
	}
	said, err := c.life.client.CallTool(ctx, &pluginv1.HostServiceCallToolRequest{CallId: c.CallID, Tool: tool, Args: encoded})
	if err != nil {
		return "", refusalOf(err)
	}
	if said.IsError {
		return "", &Error{Code: Invalid, Message: said.Text}
	}
	return said.Text, nil
}

// Prompt is what the model of a conversation is asked.
type Prompt struct {
	// System holds instructions; may be empty.
	System string
	// Messages are 1 to 256 of texts, the last by the user; 256 KiB in all. See [UserSays].
	Messages []ModelMessage
	// MaxTokens is the most that it may answer; fewer when less is left of the budget.
	MaxTokens uint32
}

// UserSays makes messages of one by the user, for a [Prompt].
func UserSays(text string) []ModelMessage {
	return []ModelMessage{{Role: "user", Parts: []ModelPart{{Text: text}}}}
}

// Words are what the model answered, and what that took of the budget.
type Words struct {
	Text string
	// Stop is "done", "length" or "refused".
	Stop string
	// Model is "PROVIDER/NAME".
	Model string
	// Tokens were taken, for prompt and answer; TokensLeft are there until the day ends, by UTC.
	Tokens, TokensLeft uint32
}

// Generate asks the model of the conversation, which hears nothing else of it. Only for a plugin that its owner gave a budget of
// tokens, as servers of MCP can have one.
func (c *Conversation) Generate(ctx context.Context, prompt Prompt) (Words, error) {
	asked := &pluginv1.HostServiceGenerateRequest{CallId: c.CallID, System: readable(prompt.System), MaxTokens: prompt.MaxTokens}
	for _, message := range prompt.Messages {
		said := &pluginv1.GenerateMessage{Role: message.Role}
		for _, part := range message.Parts {
			if part.Thinking != "" || part.Call != nil || part.Result != nil {
				return Words{}, Errorf(Invalid, "a model of a conversation is asked with texts, and nothing else")
			}
			text := &pluginv1.GeneratePart_Text{Text: readable(part.Text)}
			said.Parts = append(said.Parts, &pluginv1.GeneratePart{Kind: text})
		}
		asked.Messages = append(asked.Messages, said)
	}
	said, err := c.life.client.Generate(ctx, asked)
	if err != nil {
		return Words{}, refusalOf(err)
	}
	return Words{Text: said.Text, Stop: said.Stop, Model: said.Model, Tokens: said.Tokens, TokensLeft: said.TokensLeft}, nil
}

// conversation is that of a call; its progress goes to the host as a call of its own, unless the answer can carry it.
func (l *life) conversation(of interface {
	GetCallId() string
	GetSessionId() string
	GetWorkspace() string
}) Conversation {
	c := Conversation{Host: l.host(), CallID: of.GetCallId(), SessionID: of.GetSessionId(), Workspace: of.GetWorkspace()}
	c.show = func(line string) {
		ctx, cancel := context.WithTimeout(context.Background(), hostTime)
		defer cancel()
		// A line that is not shown is no reason to stop.
		_, _ = l.client.Progress(ctx, &pluginv1.ProgressRequest{CallId: c.CallID, Text: readable(line)})
	}
	return c
}
