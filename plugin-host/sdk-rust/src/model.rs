use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::task::AbortOnDropHandle;
use tonic::{Request, Response, Status};

use crate::context::Context;
use crate::failure::{Code, Failure, Result};
use crate::json::{object_of, struct_from, Object};
use crate::plugin::{find, Plugin};
use crate::running::{host_gone, Running};
use crate::wire::v1;
use crate::wire::v1::generate_response::News;
use crate::wire::v1::model_part::Part as WirePart;
use crate::wire::v1::model_service_server::ModelService;

/// What a model is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    /// Never empty.
    pub model: String,
    /// Instructions.
    pub system: String,
    /// User and assistant in turns.
    pub messages: Vec<Message>,
    /// What it may call.
    pub tools: Vec<ModelTool>,
    /// The most tokens that it may answer; `None` for as many as the model gives.
    pub max_tokens: Option<u32>,
}

/// One side's words.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// `user` or `assistant`.
    pub role: String,
    /// Its parts, in order.
    pub parts: Vec<ModelPart>,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelPart {
    /// Words.
    Text(String),
    /// Thoughts that came before them.
    Thinking(String),
    /// A call that the model wanted.
    Call {
        /// Unique in its conversation.
        call_id: String,
        /// The tool.
        tool: String,
        /// Its arguments.
        args: Object,
    },
    /// What such a call came to.
    Result {
        /// Which call.
        call_id: String,
        /// What the model gets to read.
        text: String,
        /// True when it failed.
        is_error: bool,
    },
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelTool {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Object,
}

/// Why a model said no more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stop {
    /// Because of its calls when there are any, else because it was done.
    #[default]
    Unsaid,
    /// It was done.
    Done,
    /// It wants calls.
    Calls,
    /// It reached its length.
    Length,
    /// It would not go on.
    Refused,
}

/// How a reply ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// Why.
    pub stop: Stop,
    /// Tokens it read.
    pub input_tokens: u32,
    /// Tokens it wrote.
    pub output_tokens: u32,
}

type Sender = mpsc::Sender<std::result::Result<v1::GenerateResponse, Status>>;

/// Where a model's words go. Everything waits while the host reads slower, and fails when nobody reads any more.
#[derive(Clone)]
pub struct Reply(Arc<ReplyState>);

struct ReplyState {
    sender: Sender,
    /// Pieces of the part that is not whole yet.
    text: Mutex<String>,
    calls: AtomicU32,
}

impl Reply {
    fn new(sender: Sender) -> Self {
        Reply(Arc::new(ReplyState { sender, text: Mutex::default(), calls: AtomicU32::new(0) }))
    }

    /// Says a piece of text at once. The pieces up to something else are one part.
    pub async fn text(&self, piece: impl Into<String>) -> Result<()> {
        let piece = piece.into();
        self.0.text.lock().unwrap_or_else(PoisonError::into_inner).push_str(&piece);
        self.send(News::TextDelta(piece)).await
    }

    /// Says a whole thought.
    pub async fn thinking(&self, thought: impl Into<String>) -> Result<()> {
        self.part(WirePart::Thinking(thought.into())).await
    }

    /// Wants a tool called.
    pub async fn call(&self, tool: impl Into<String>, args: Object) -> Result<()> {
        let number = self.0.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let call_id = format!("call-{number}");
        self.part(WirePart::Call(v1::ModelCall { call_id, tool: tool.into(), args: Some(struct_from(args)) })).await
    }

    async fn part(&self, part: WirePart) -> Result<()> {
        self.close_text().await?;
        self.send(News::Part(v1::ModelPart { part: Some(part) })).await
    }

    /// Pieces that were said become a whole part.
    async fn close_text(&self) -> Result<()> {
        let text = std::mem::take(&mut *self.0.text.lock().unwrap_or_else(PoisonError::into_inner));
        if text.is_empty() {
            return Ok(());
        }
        self.send(News::Part(v1::ModelPart { part: Some(WirePart::Text(text)) })).await
    }

    async fn end(&self, End { stop, input_tokens, output_tokens }: End) -> Result<()> {
        self.close_text().await?;
        let stop = match stop {
            Stop::Unsaid => "",
            Stop::Done => "done",
            Stop::Calls => "calls",
            Stop::Length => "length",
            Stop::Refused => "refused",
        };
        self.send(News::End(v1::GenerateEnd { stop: stop.to_owned(), input_tokens, output_tokens })).await
    }

    async fn send(&self, news: News) -> Result<()> {
        let sent = self.0.sender.send(Ok(v1::GenerateResponse { news: Some(news) })).await;
        sent.map_err(|_| Failure::new(Code::Unavailable, "nobody waits for this reply any more"))
    }
}

/// Lets the plugin's models answer.
pub(crate) struct ServeModels {
    pub plugin: Arc<Plugin>,
    pub running: Arc<Running>,
}

#[tonic::async_trait]
impl ModelService for ServeModels {
    type GenerateStream = ReceiverStream<std::result::Result<v1::GenerateResponse, Status>>;

    async fn generate(
        &self,
        request: Request<v1::GenerateRequest>,
    ) -> std::result::Result<Response<Self::GenerateStream>, Status> {
        let request = request.into_inner();
        let Some(model) = find(&self.plugin.models, &request.provider) else {
            return Err(Status::not_found(format!("there is no model provider \"{}\" here", request.provider)));
        };
        let at_work = self.running.begin()?;
        let cancellation = self.running.gone.child_token();
        let context = Context::new(&self.running, cancellation.clone());
        let (sender, receiver) = mpsc::channel(1);
        let reply = Reply::new(sender.clone());
        tokio::spawn(async move {
            let said = reply.clone();
            let mut work =
                AbortOnDropHandle::new(tokio::spawn(
                    async move { (model.run)(context, read_request(request), said).await },
                ));
            let ended = tokio::select! {
                () = sender.closed() => None,
                () = cancellation.cancelled() => {
                    let _ = sender.try_send(Err(host_gone()));
                    None
                }
                ended = &mut work => Some(ended.unwrap_or_else(|error| Err(Failure::of_panic("the model", error)))),
            };
            // A failure to tell it means that nobody listens.
            let _ = match ended {
                Some(Ok(end)) => reply.end(end).await,
                Some(Err(failure)) => {
                    eprintln!("{failure}");
                    let retryable = failure.retryable || failure.code == Code::Unavailable;
                    reply.send(News::Failure(v1::GenerateFailure { message: failure.message, retryable })).await
                }
                None => Ok(()),
            };
            cancellation.cancel();
            drop(at_work);
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }
}

fn read_request(request: v1::GenerateRequest) -> ModelRequest {
    let messages = request.messages.into_iter().map(|v1::ModelMessage { role, parts }| Message {
        role,
        parts: parts.into_iter().filter_map(|part| part.part).map(read_part).collect(),
    });
    let tools = request.tools.into_iter().map(|tool| ModelTool {
        name: tool.name,
        description: tool.description,
        input_schema: object_of(tool.input_schema),
    });
    ModelRequest {
        model: request.model,
        system: request.system,
        messages: messages.collect(),
        tools: tools.collect(),
        max_tokens: (request.max_tokens > 0).then_some(request.max_tokens),
    }
}

fn read_part(part: WirePart) -> ModelPart {
    match part {
        WirePart::Text(text) => ModelPart::Text(text),
        WirePart::Thinking(thought) => ModelPart::Thinking(thought),
        WirePart::Call(v1::ModelCall { call_id, tool, args }) => {
            ModelPart::Call { call_id, tool, args: object_of(args) }
        }
        WirePart::Result(v1::ModelCallResult { call_id, text, is_error }) => {
            ModelPart::Result { call_id, text, is_error }
        }
    }
}
