package plugin

import (
	"context"
	"fmt"
	"os"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "clawd.dev/plugin/gen/clawd/plugin/v1"
)

// Command is a slash command that a person wrote, or a program; Args is the rest of the message.
type Command struct {
	Conversation
	Name, Args string
	// Named is the same by name, where a program filled in the arguments of the declaration; empty for a person's words.
	Named map[string]string
	// Whole is true when whoever asks takes messages beside the text: see [Outcome.WithMessages].
	Whole bool
}

// Outcome is what becomes of the message: made by [Say] or [Show].
type Outcome struct {
	answer   *pluginv1.RunSlashCommandResponse
	messages []any
}

// Say is said to the model in the message's place.
func Say(text string) Outcome {
	said := &pluginv1.RunSlashCommandResponse_Say{Say: readable(text)}
	return Outcome{answer: &pluginv1.RunSlashCommandResponse{Outcome: said}}
}

// Show is shown to the person, and nothing is said to the model.
func Show(text string) Outcome {
	shown := &pluginv1.RunSlashCommandResponse_Show{Show: readable(text)}
	return Outcome{answer: &pluginv1.RunSlashCommandResponse{Outcome: shown}}
}

// WithMessages gives the same outcome with all that it says, pictures and resources included, for programs that take more than a
// text: structs or maps in the form of a PromptMessage of the Model Context Protocol; 3 MiB in all.
func (o Outcome) WithMessages(messages ...any) Outcome {
	o.messages = messages
	return o
}

// CommandDeclaration is a slash command as it is declared.
type CommandDeclaration struct {
	name, description string
	arguments         []argumentJSON
	run               func(ctx context.Context, command *Command) (Outcome, error)
}

type argumentJSON struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// Argument says what programs fill in by name: 1 to 64 characters without spaces. It comes as Named of the [Command].
func (c *CommandDeclaration) Argument(name, description string, required bool) *CommandDeclaration {
	c.arguments = append(c.arguments, argumentJSON{name, description, required})
	return c
}

// SlashCommand declares what a message that begins with /NAME is.
func (p *Plugin) SlashCommand(
	name, description string,
	run func(ctx context.Context, command *Command) (Outcome, error),
) *CommandDeclaration {
	declared := &CommandDeclaration{name: name, description: description, run: run}
	p.commands = append(p.commands, declared)
	return declared
}

type commandServer struct {
	pluginv1.UnimplementedSlashCommandServiceServer
	life *life
}

func (s *commandServer) RunSlashCommand(
	ctx context.Context,
	said *pluginv1.RunSlashCommandRequest,
) (*pluginv1.RunSlashCommandResponse, error) {
	for _, declared := range s.life.plugin.commands {
		if declared.name == said.Command {
			return s.life.runCommand(ctx, declared, said)
		}
	}
	if declared := s.life.offers.command(said.Command); declared != nil {
		return s.life.runCommand(ctx, declared, said)
	}
	return nil, status.Errorf(codes.NotFound, "there is no command \"/%s\" here", said.Command)
}

func (l *life) runCommand(
	ctx context.Context,
	declared *CommandDeclaration,
	said *pluginv1.RunSlashCommandRequest,
) (*pluginv1.RunSlashCommandResponse, error) {
	done, err := l.work.begin()
	if err != nil {
		return nil, err
	}
	defer done()
	var outcome Outcome
	err = safely("the command /"+declared.name, func() (err error) {
		command := &Command{Conversation: l.conversation(said), Name: declared.name, Args: said.Args, Named: said.Named, Whole: said.Whole}
		outcome, err = declared.run(ctx, command)
		return err
	})
	if err == nil && outcome.answer == nil {
		err = fmt.Errorf("the command /%s gave no outcome: give Say or Show", declared.name)
	}
	if err == nil && said.Whole {
		err = outcome.addMessages()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: /%s: %v\n", declared.name, err)
		return nil, told(err)
	}
	return outcome.answer, nil
}

func (o Outcome) addMessages() error {
	for _, message := range o.messages {
		encoded, err := structOf(message)
		if err != nil {
			return err
		}
		o.answer.Messages = append(o.answer.Messages, encoded)
	}
	return nil
}
