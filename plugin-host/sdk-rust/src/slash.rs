use std::sync::Arc;

use tonic::{Request, Response, Status};

use crate::context::{Belongs, Context, Conversation};
use crate::json::{struct_from, Object};
use crate::plugin::{find, Plugin};
use crate::running::{aborted, guarded, Running};
use crate::wire::v1;
use crate::wire::v1::run_slash_command_response::Outcome;
use crate::wire::v1::slash_command_service_server::SlashCommandService;

/// What becomes of a message that began with a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlashAnswer {
    /// Said to the model in the message's place.
    Say(String),
    /// Shown to the person; nothing is said to the model.
    Show(String),
}

impl SlashAnswer {
    /// The same, with all that it says, pictures and resources included, for programs that take more than a text: objects in the
    /// form of a PromptMessage of the Model Context Protocol; 3 MiB in all.
    pub fn with_messages(self, messages: Vec<Object>) -> WholeAnswer {
        WholeAnswer { answer: self, messages }
    }
}

/// A [`SlashAnswer`] and the messages that go with it.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeAnswer {
    answer: SlashAnswer,
    messages: Vec<Object>,
}

impl From<SlashAnswer> for WholeAnswer {
    fn from(answer: SlashAnswer) -> Self {
        answer.with_messages(Vec::new())
    }
}

/// Answers messages that begin with one of its commands.
pub(crate) struct ServeSlashCommands {
    pub plugin: Arc<Plugin>,
    pub running: Arc<Running>,
}

#[tonic::async_trait]
impl SlashCommandService for ServeSlashCommands {
    async fn run_slash_command(
        &self,
        request: Request<v1::RunSlashCommandRequest>,
    ) -> std::result::Result<Response<v1::RunSlashCommandResponse>, Status> {
        let v1::RunSlashCommandRequest { command: name, args, session_id, workspace, call_id, named, whole } =
            request.into_inner();
        let declared = find(&self.plugin.slash_commands, &name);
        let Some(command) = declared.or_else(|| self.running.host.offers().command(&name)) else {
            return Err(Status::not_found(format!("there is no command \"/{name}\" here")));
        };
        let _at_work = self.running.begin()?;
        let cancellation = self.running.gone.child_token();
        // Nobody waits any more when this is dropped.
        let _guard = cancellation.clone().drop_guard();
        let context = Context::new(&self.running, cancellation);
        let conversation = Conversation::new(context, Belongs { call_id, session_id, workspace, named, whole });
        let answer = guarded("the command", async move { (command.run)(conversation, args).await }).await;
        let WholeAnswer { answer, messages } = answer.map_err(aborted)?;
        let messages = if whole { messages.into_iter().map(struct_from).collect() } else { Vec::new() };
        let outcome = match answer {
            SlashAnswer::Say(text) => Outcome::Say(text),
            SlashAnswer::Show(text) => Outcome::Show(text),
        };
        Ok(Response::new(v1::RunSlashCommandResponse { outcome: Some(outcome), messages }))
    }
}
