use std::sync::Arc;

use tonic::{Request, Response, Status};

use crate::context::{Belongs, Context, Conversation};
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
        let v1::RunSlashCommandRequest { command: name, args, session_id, workspace, call_id } = request.into_inner();
        let Some(command) = find(&self.plugin.slash_commands, &name) else {
            return Err(Status::not_found(format!("there is no command \"/{name}\" here")));
        };
        let _at_work = self.running.begin()?;
        let cancellation = self.running.gone.child_token();
        // Nobody waits any more when this is dropped.
        let _guard = cancellation.clone().drop_guard();
        let context = Context::new(&self.running, cancellation);
        let conversation = Conversation::new(context, Belongs { call_id, session_id, workspace });
        let answer = guarded("the command", async move { (command.run)(conversation, args).await }).await;
        let outcome = match answer.map_err(aborted)? {
            SlashAnswer::Say(text) => Outcome::Say(text),
            SlashAnswer::Show(text) => Outcome::Show(text),
        };
        Ok(Response::new(v1::RunSlashCommandResponse { outcome: Some(outcome) }))
    }
}
