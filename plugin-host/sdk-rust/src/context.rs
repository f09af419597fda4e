use std::collections::HashMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::failure::{Code, Failure, Result};
use crate::form::{form_schema, Form};
use crate::host::{Host, ToolReply, Word};
use crate::json::Object;
use crate::news::NewsQueue;
use crate::running::{Facts, Running};
use crate::words::{Prompt, Words};

/// What everything that runs gets beside its arguments.
#[derive(Clone)]
pub struct Context {
    host: Host,
    facts: Arc<Facts>,
    cancellation: CancellationToken,
}

impl Context {
    pub(crate) fn new(running: &Running, cancellation: CancellationToken) -> Self {
        Context { host: running.host.clone(), facts: running.facts(), cancellation }
    }

    /// With other settings than those in force.
    pub(crate) fn with_facts(running: &Running, facts: Arc<Facts>, cancellation: CancellationToken) -> Self {
        Context { host: running.host.clone(), facts, cancellation }
    }

    /// What the host does for a plugin.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The plugin's settings at the beginning of this: the defaults of plugin.json under what a person gave in config.toml.
    pub fn settings<S: DeserializeOwned>(&self) -> Result<S> {
        read_settings(&self.facts.settings)
    }

    /// What it may touch, in the permission language: what plugin.json asks for, or less.
    pub fn granted(&self) -> &[String] {
        &self.facts.granted
    }

    /// A folder of its own that it may write, kept between its lives; `None` when it was granted none.
    pub fn data_folder(&self) -> Option<&Path> {
        self.facts.data_folder.as_deref()
    }

    /// Waits until nobody waits any more: the call was cancelled, its time is up, or the host is gone. What goes on after that
    /// is dropped at its next `.await`: tools and hooks five seconds later, everything else at once.
    pub async fn cancelled(&self) {
        self.cancellation.cancelled().await;
    }

    /// Whether nobody waits any more; for work that does not await.
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }
}

pub(crate) fn read_settings<S: DeserializeOwned>(settings: &Object) -> Result<S> {
    serde_json::from_value(Value::Object(settings.clone()))
        .map_err(|error| Failure::new(Code::Invalid, format!("the settings cannot be used: {error}")))
}

/// The same for what belongs to a conversation. Asking the person and calling other tools is possible as long as this runs.
#[derive(Clone)]
pub struct Conversation {
    context: Context,
    call_id: String,
    session_id: String,
    workspace: PathBuf,
    named: Arc<HashMap<String, String>>,
    whole: bool,
}

/// Whose call, event or command something is.
#[derive(Default)]
pub(crate) struct Belongs {
    pub call_id: String,
    pub session_id: String,
    pub workspace: String,
    /// Of a command.
    pub named: HashMap<String, String>,
    /// Of a command.
    pub whole: bool,
}

impl Conversation {
    pub(crate) fn new(context: Context, Belongs { call_id, session_id, workspace, named, whole }: Belongs) -> Self {
        Conversation { context, call_id, session_id, workspace: workspace.into(), named: named.into(), whole }
    }

    /// Names the call, the event or the command.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// Names the conversation.
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// The folder that the conversation works in, absolute. It is only told: what may be read there is a matter of the grant.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Of a slash command: what a program filled in by name; empty for a person's words.
    pub fn named(&self) -> &HashMap<String, String> {
        &self.named
    }

    /// Of a slash command: whether whoever asks takes messages beside the text
    /// ([`SlashAnswer::with_messages`](crate::SlashAnswer::with_messages)).
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Shows a line to whoever waits. Never stored; where it cannot be shown the log says so. To be called within a runtime.
    pub fn progress(&self, line: impl Into<String>) {
        let (host, call_id, line) = (self.host.clone(), self.call_id.clone(), line.into());
        tokio::spawn(async move {
            if let Err(failure) = host.progress(call_id, line).await {
                eprintln!("progress was not shown: {failure}");
            }
        });
    }

    /// Asks the person a question of at most 500 characters, to be answered with yes or no. Nobody there means no.
    pub async fn ask(&self, question: impl Into<String>) -> Result<Word> {
        self.host.ask(self.call_id.clone(), question.into()).await
    }

    /// The same, and the person fills in an `F`, too: a struct of texts, numbers, truth values and choices. What looks like a
    /// password is not asked for.
    pub async fn ask_form<F: DeserializeOwned + JsonSchema>(&self, question: impl Into<String>) -> Result<Form<F>> {
        let (call_id, schema) = (self.call_id.clone(), form_schema::<F>());
        let (Word { yes, answered }, content) = self.host.ask_form(call_id, question.into(), schema).await?;
        let filled = if yes { Some(serde_json::from_value(Value::Object(content))?) } else { None };
        Ok(Form { yes, answered, filled })
    }

    /// Asks the model of the conversation, which hears nothing else of it. Only for a plugin that its owner gave a budget of
    /// tokens, as servers of MCP can have one.
    pub async fn generate(&self, prompt: Prompt) -> Result<Words> {
        self.host.generate(prompt.into_request(self.call_id.clone())?).await
    }

    /// Calls another tool by its full name, through all its gates. Needs the permission `tool=NAME`. What the tool refuses
    /// is a reply; what was not allowed to be asked is a failure.
    pub async fn call_tool(&self, tool: impl Into<String>, args: impl Serialize) -> Result<ToolReply> {
        match serde_json::to_value(args)? {
            Value::Object(args) => self.host.call_tool(self.call_id.clone(), tool.into(), args).await,
            _ => Err(Failure::new(Code::Invalid, "the arguments of a tool are an object")),
        }
    }
}

impl Deref for Conversation {
    type Target = Context;
    fn deref(&self) -> &Context {
        &self.context
    }
}

/// The same for one call of a tool, which also has output.
#[derive(Clone)]
pub struct Call {
    conversation: Conversation,
    news: Arc<NewsQueue>,
}

impl Call {
    pub(crate) fn new(conversation: Conversation, news: Arc<NewsQueue>) -> Self {
        Call { conversation, news }
    }

    /// Shows a line to whoever waits. Never stored; of many that nobody has read yet, the newest 256 are shown.
    pub fn progress(&self, line: impl Into<String>) {
        self.news.progress(line.into());
    }

    /// Sends a piece of the output at once; the result's text follows all pieces. Waits while the host is slower than the
    /// tool, and fails when nobody reads any more.
    pub async fn output(&self, piece: impl AsRef<[u8]>) -> Result<()> {
        self.news.write(piece.as_ref()).await
    }
}

impl Deref for Call {
    type Target = Conversation;
    fn deref(&self) -> &Conversation {
        &self.conversation
    }
}
