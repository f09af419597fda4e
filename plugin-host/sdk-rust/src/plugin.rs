use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::answer::Answer;
use crate::context::{read_settings, Call, Context, Conversation};
use crate::failure::{Code, Failure, Result};
use crate::hook::{Event, Verdict};
use crate::json::Object;
use crate::memory::{Documents, TextKind};
use crate::model::{End, ModelRequest, Reply};
use crate::slash::WholeAnswer;

pub(crate) type Later<T> = Pin<Box<dyn Future<Output = Result<T>> + Send>>;

type RunTool = dyn Fn(Call, Object) -> Later<Answer> + Send + Sync;
pub(crate) type RunHook = dyn Fn(Conversation, Event) -> Later<Verdict> + Send + Sync;
type Generate = dyn Fn(Context, ModelRequest, Reply) -> Later<End> + Send + Sync;
type Embed = dyn Fn(Context, Vec<String>, TextKind) -> Later<Vec<Vec<f32>>> + Send + Sync;
type ListDocuments = dyn Fn(Context, Documents) -> Later<()> + Send + Sync;
pub(crate) type RunSlashCommand = dyn Fn(Conversation, String) -> Later<WholeAnswer> + Send + Sync;
type TakeSettings = dyn Fn(Context, Object) -> Later<InForce> + Send + Sync;
type Stop = dyn Fn() -> Later<()> + Send + Sync;

/// Something with a name: a tool, a model, an embedder, a source, a command; or a hook with its point.
pub(crate) struct Named<Run: ?Sized> {
    pub name: String,
    pub run: Arc<Run>,
}

impl<Run: ?Sized> Clone for Named<Run> {
    fn clone(&self) -> Self {
        Named { name: self.name.clone(), run: Arc::clone(&self.run) }
    }
}

pub(crate) fn find<Run: ?Sized>(all: &[Named<Run>], name: &str) -> Option<Named<Run>> {
    all.iter().find(|one| one.name == name).cloned()
}

#[derive(Clone)]
pub(crate) struct Tool {
    pub name: String,
    pub description: String,
    /// Made when somebody asks: the host knows it from plugin.json.
    pub schema: fn() -> Value,
    run: Arc<RunTool>,
}

impl Tool {
    pub(crate) fn new<I, A, F, Fut>(name: String, description: String, run: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        A: Into<Answer>,
        F: Fn(Call, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A>> + Send + 'static,
    {
        let run = Arc::new(run);
        let run: Arc<RunTool> = Arc::new(move |call, args| {
            let run = Arc::clone(&run);
            Box::pin(async move {
                let input = serde_json::from_value(Value::Object(args))
                    .map_err(|error| Failure::new(Code::Invalid, format!("the arguments do not fit: {error}")))?;
                Ok(run(call, input).await?.into())
            })
        });
        Tool { name, description, schema: crate::manifest::schema_of::<I>, run }
    }

    pub(crate) fn run(&self, call: Call, args: Object) -> Later<Answer> {
        (self.run)(call, args)
    }
}

pub(crate) fn command_of<A, F, Fut>(name: String, run: F) -> Named<RunSlashCommand>
where
    A: Into<WholeAnswer>,
    F: Fn(Conversation, String) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<A>> + Send + 'static,
{
    let run: Arc<RunSlashCommand> = Arc::new(move |conversation, args| {
        let answer = run(conversation, args);
        Box::pin(async move { Ok(answer.await?.into()) })
    });
    Named { name, run }
}

/// When settings come into force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InForce {
    /// At once.
    Now,
    /// At the next start; the host then starts the plugin anew.
    AfterRestart,
}

/// A plugin: what it is, and everything that it brings.
///
/// `plugin.json` beside it says the same to people and to the model before anything runs;
/// [`check_manifest`](Plugin::check_manifest) tells in a test where the two differ.
///
/// ```
/// use clawd_plugin::{Call, Plugin};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Greeting {
///     /// Whom to greet
///     name: String,
/// }
///
/// let plugin = Plugin::new("hello", "1.0.0")
///     .tool("greet", "Greets somebody.", |call: Call, input: Greeting| async move {
///         call.progress("thinking of something nice");
///         Ok(format!("Hello, {}!", input.name))
///     });
/// ```
pub struct Plugin {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) tools: Vec<Tool>,
    pub(crate) hooks: Vec<Named<RunHook>>,
    pub(crate) models: Vec<Named<Generate>>,
    pub(crate) embedders: Vec<Named<Embed>>,
    pub(crate) memory_sources: Vec<Named<ListDocuments>>,
    pub(crate) slash_commands: Vec<Named<RunSlashCommand>>,
    pub(crate) take_settings: Arc<TakeSettings>,
    pub(crate) stop: Option<Arc<Stop>>,
}

impl Plugin {
    /// A plugin that brings nothing yet. Name and version are those of plugin.json.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Plugin {
            name: name.into(),
            version: version.into(),
            tools: Vec::new(),
            hooks: Vec::new(),
            models: Vec::new(),
            embedders: Vec::new(),
            memory_sources: Vec::new(),
            slash_commands: Vec::new(),
            take_settings: Arc::new(|_, _| Box::pin(std::future::ready(Ok(InForce::Now)))),
            stop: None,
        }
    }

    /// Adds a tool, by its name without a prefix. Its input is any type that serde reads from an object of JSON; one that
    /// does not fit is a failure of the call. A failure and a panic are told to the model, and end nothing but the call.
    ///
    /// Work that keeps a processor busy belongs into `tokio::task::spawn_blocking`, so that other calls go on.
    pub fn tool<I, A, F, Fut>(mut self, name: impl Into<String>, description: impl Into<String>, run: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        A: Into<Answer>,
        F: Fn(Call, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A>> + Send + 'static,
    {
        self.tools.push(Tool::new(name.into(), description.into(), run));
        self
    }

    /// Adds a listener at one hook point, by its canonical name. Where several listen at one point they stand in the order of
    /// plugin.json. A failure and a panic count as the hook's failure; `onError` of plugin.json decides then.
    ///
    /// ```
    /// use clawd_plugin::{Conversation, Event, Plugin, Verdict};
    ///
    /// let plugin = Plugin::new("careful", "1.0.0").hook("tool.before", |_: Conversation, event: Event| async move {
    ///     if event.value["tool"] == "shell" && event.value["args"].to_string().contains("sudo") {
    ///         return Ok(Verdict::Block("no sudo".into()));
    ///     }
    ///     Ok(Verdict::Pass)
    /// });
    /// ```
    pub fn hook<F, Fut>(mut self, at: impl Into<String>, run: F) -> Self
    where
        F: Fn(Conversation, Event) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Verdict>> + Send + 'static,
    {
        let run: Arc<RunHook> = Arc::new(move |conversation, event| Box::pin(run(conversation, event)));
        self.hooks.push(Named { name: at.into(), run });
        self
    }

    /// Adds a model provider. What it says goes to the reply piece by piece; what it gives back is how that ended. A failure
    /// of the code [`Code::Unavailable`] says that asking again may help.
    ///
    /// ```
    /// use clawd_plugin::{Context, End, ModelRequest, Plugin, Reply};
    ///
    /// let plugin = Plugin::new("echo", "1.0.0").model("echo", |_: Context, request: ModelRequest, reply: Reply| async move {
    ///     reply.text(format!("{} was asked", request.model)).await?;
    ///     Ok(End::default())
    /// });
    /// ```
    pub fn model<F, Fut>(mut self, name: impl Into<String>, generate: F) -> Self
    where
        F: Fn(Context, ModelRequest, Reply) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<End>> + Send + 'static,
    {
        let run: Arc<Generate> = Arc::new(move |context, request, reply| Box::pin(generate(context, request, reply)));
        self.models.push(Named { name: name.into(), run });
        self
    }

    /// Adds an embedder: one vector a text, in their order; at most 256 texts.
    pub fn embedder<F, Fut>(mut self, id: impl Into<String>, embed: F) -> Self
    where
        F: Fn(Context, Vec<String>, TextKind) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<Vec<f32>>>> + Send + 'static,
    {
        let run: Arc<Embed> = Arc::new(move |context, texts, kind| Box::pin(embed(context, texts, kind)));
        self.embedders.push(Named { name: id.into(), run });
        self
    }

    /// Adds a source of documents for memory, which gives all of them each time.
    pub fn memory_source<F, Fut>(mut self, name: impl Into<String>, list: F) -> Self
    where
        F: Fn(Context, Documents) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        let run: Arc<ListDocuments> = Arc::new(move |context, documents| Box::pin(list(context, documents)));
        self.memory_sources.push(Named { name: name.into(), run });
        self
    }

    /// Adds a slash command, by its name without the slash. It gets the rest of the message, and gives a
    /// [`SlashAnswer`](crate::SlashAnswer), perhaps with messages. What programs fill in by name stands in plugin.json, and comes as
    /// [`Conversation::named`].
    pub fn slash_command<A, F, Fut>(mut self, name: impl Into<String>, run: F) -> Self
    where
        A: Into<WholeAnswer>,
        F: Fn(Conversation, String) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A>> + Send + 'static,
    {
        self.slash_commands.push(command_of(name.into(), run));
        self
    }

    /// Takes the settings: once before anything else, and whenever a person changes them. Settings that are no `S` are
    /// refused, and so are those with which this fails, in its words; the old ones then stay in force.
    /// Everything that runs reads them by [`Context::settings`].
    pub fn settings<S, F>(self, take: F) -> Self
    where
        S: DeserializeOwned,
        F: Fn(S) -> Result<InForce> + Send + Sync + 'static,
    {
        self.configure(move |_, settings| std::future::ready(take(settings)))
    }

    /// The same as [`settings`](Plugin::settings), in whose place it stands, for what waits or asks the host for something: a
    /// place for [`Host::offer`](crate::Host::offer).
    pub fn configure<S, F, Fut>(mut self, take: F) -> Self
    where
        S: DeserializeOwned,
        F: Fn(Context, S) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<InForce>> + Send + 'static,
    {
        self.take_settings = Arc::new(move |context, settings| match read_settings(&settings) {
            Ok(settings) => Box::pin(take(context, settings)),
            Err(failure) => Box::pin(std::future::ready(Err(failure))),
        });
        self
    }

    /// Tidies up before the process ends; it has two seconds, and half a one when the host is gone.
    pub fn stop<F, Fut>(mut self, stop: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        self.stop = Some(Arc::new(move || Box::pin(stop())));
        self
    }
}
