package plugin

import (
	"context"
	"fmt"
	"os"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "clawd.dev/plugin/gen/clawd/plugin/v1"
)

// Command is a slash command that a person wrote; Args is the rest of the message.
type Command struct {
	Conversation
	Name, Args string
}

// Outcome is what becomes of the message: made by [Say] or [Show].
type Outcome struct {
	answer *pluginv1.RunSlashCommandResponse
}

// Say is said to the model in the message's place.
func Say(text string) Outcome {
	return Outcome{&pluginv1.RunSlashCommandResponse{Outcome: &pluginv1.RunSlashCommandResponse_Say{Say: readable(text)}}}
}

// Show is shown to the person, and nothing is said to the model.
func Show(text string) Outcome {
	return Outcome{&pluginv1.RunSlashCommandResponse{Outcome: &pluginv1.RunSlashCommandResponse_Show{Show: readable(text)}}}
}

type slashCommand struct {
	name, description string
	run               func(ctx context.Context, command *Command) (Outcome, error)
}

// SlashCommand declares what a message that begins with /NAME is.
func (p *Plugin) SlashCommand(name, description string, run func(ctx context.Context, command *Command) (Outcome, error)) {
	p.commands = append(p.commands, &slashCommand{name: name, description: description, run: run})
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
	return nil, status.Errorf(codes.NotFound, "there is no command \"/%s\" here", said.Command)
}

func (l *life) runCommand(
	ctx context.Context,
	declared *slashCommand,
	said *pluginv1.RunSlashCommandRequest,
) (*pluginv1.RunSlashCommandResponse, error) {
	done, err := l.work.begin()
	if err != nil {
		return nil, err
	}
	defer done()
	var outcome Outcome
	err = safely("the command /"+declared.name, func() (err error) {
		outcome, err = declared.run(ctx, &Command{Conversation: l.conversation(said), Name: declared.name, Args: said.Args})
		return err
	})
	if err == nil && outcome.answer == nil {
		err = fmt.Errorf("the command /%s gave no outcome: give Say or Show", declared.name)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: /%s: %v\n", declared.name, err)
		return nil, told(err)
	}
	return outcome.answer, nil
}
