use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

use prost::Message;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::Stream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};

use crate::context::{Belongs, Context, Conversation};
use crate::failure::{Code, Failure, Result};
use crate::json::{object_of, struct_from, value_from, Object};
use crate::plugin::{Plugin, RunHook};
use crate::running::{grace_after, guarded, Running};
use crate::wire::v1;
use crate::wire::v1::hook_answer::Verdict as Said;
use crate::wire::v1::hook_service_server::HookService;
use crate::MAX_MESSAGE_BYTES;

/// What a message may hold, less the few bytes around an answer.
const MAX_ANSWER_BYTES: usize = MAX_MESSAGE_BYTES - 64;
/// As many events are open at once at most.
const MAX_OPEN_EVENTS: usize = 256;

/// What happened, as a hook gets to see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The point, by its canonical name, e.g. `tool.before`.
    pub at: String,
    /// What the point is about, an object; docs/hooks.md has the fields of each.
    pub value: Value,
}

/// What a hook says.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Go on.
    Pass,
    /// Go on with this object in place of the event's: the whole new value.
    Modify(Value),
    /// Not so; the text says why.
    Block(String),
    /// In the tool's place.
    Answer(Value),
    /// Pass over the hooks after this one.
    Skip,
}

/// Hears events: all on one stream, or one a call. No event waits for another.
#[derive(Clone)]
pub(crate) struct ServeHooks {
    pub plugin: Arc<Plugin>,
    pub running: Arc<Running>,
}

#[tonic::async_trait]
impl HookService for ServeHooks {
    type StreamHooksStream = Pin<Box<dyn Stream<Item = std::result::Result<v1::StreamHooksResponse, Status>> + Send>>;

    async fn stream_hooks(
        &self,
        request: Request<Streaming<v1::StreamHooksRequest>>,
    ) -> std::result::Result<Response<Self::StreamHooksStream>, Status> {
        let (sender, receiver) = mpsc::channel(MAX_OPEN_EVENTS);
        tokio::spawn(self.clone().answer_all(request.into_inner(), sender));
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }

    async fn run_hook(
        &self,
        request: Request<v1::RunHookRequest>,
    ) -> std::result::Result<Response<v1::RunHookResponse>, Status> {
        let cancellation = self.running.gone.child_token();
        // Nobody waits any more when this is dropped.
        let _guard = cancellation.clone().drop_guard();
        let answer = match request.into_inner().event {
            Some(event) => self.answer_one(event, cancellation).await,
            None => v1::HookAnswer::default(),
        };
        Ok(Response::new(v1::RunHookResponse { answer: Some(answer) }))
    }
}

type Answers = mpsc::Sender<std::result::Result<v1::StreamHooksResponse, Status>>;

impl ServeHooks {
    /// Answers in the order in which they are ready. Ends when the host ends the stream or the plugin is told to end, and
    /// what is open is answered.
    async fn answer_all(self, mut events: Streaming<v1::StreamHooksRequest>, sender: Answers) {
        let mut open: HashMap<u32, CancellationToken> = HashMap::new();
        let mut at_work: JoinSet<(u32, v1::HookAnswer)> = JoinSet::new();
        let mut more = true;
        while more || !at_work.is_empty() {
            tokio::select! {
                () = sender.closed() => break,
                () = self.running.ending.cancelled(), if more => more = false,
                event = events.message(), if more => match event {
                    Ok(Some(v1::StreamHooksRequest { kind: Some(kind) })) => self.hear(kind, &mut open, &mut at_work),
                    Ok(Some(_)) => {}
                    Ok(None) => more = false,
                    Err(_) => break,
                },
                Some(done) = at_work.join_next() => {
                    let Ok((id, answer)) = done else { continue };
                    // Nobody waits for the answer to a cancelled event.
                    if open.remove(&id).is_none() {
                        continue;
                    }
                    let response = v1::StreamHooksResponse { id, answer: Some(answer) };
                    if sender.send(Ok(response)).await.is_err() {
                        break;
                    }
                }
            }
        }
        for cancellation in open.into_values() {
            cancellation.cancel();
        }
        // Their answers have no reader; they have their grace.
        at_work.detach_all();
    }

    fn hear(
        &self,
        kind: v1::stream_hooks_request::Kind,
        open: &mut HashMap<u32, CancellationToken>,
        at_work: &mut JoinSet<(u32, v1::HookAnswer)>,
    ) {
        match kind {
            v1::stream_hooks_request::Kind::Cancelled(id) => {
                if let Some(cancellation) = open.remove(&id) {
                    cancellation.cancel();
                }
            }
            v1::stream_hooks_request::Kind::Event(event) => {
                let (id, cancellation) = (event.id, self.running.gone.child_token());
                open.insert(id, cancellation.clone());
                let this = self.clone();
                at_work.spawn(async move { (id, this.answer_one(event, cancellation).await) });
            }
        }
    }

    /// Never fails: what goes wrong is the hook's failure.
    async fn answer_one(&self, event: v1::HookEvent, cancellation: CancellationToken) -> v1::HookAnswer {
        let Some(run) = self.pick(&event) else {
            return failed(&format!("there is no hook at {} here", event.at));
        };
        let _at_work = match self.running.begin() {
            Ok(token) => token,
            Err(status) => return failed(status.message()),
        };
        let v1::HookEvent { at, call_id, session_id, workspace, value, .. } = event;
        let context = Context::new(&self.running, cancellation.clone());
        let conversation = Conversation::new(context, Belongs { call_id, session_id, workspace, ..Default::default() });
        let event = Event { at, value: Value::Object(object_of(value)) };
        let verdict = tokio::select! {
            verdict = guarded("the hook", async move { run(conversation, event).await }) => verdict,
            () = grace_after(&cancellation) => Err(Failure::new(Code::TimedOut, "the hook did not end")),
        };
        verdict.and_then(answer_of).unwrap_or_else(|failure| {
            if !cancellation.is_cancelled() {
                eprintln!("{failure}");
            }
            failed(&failure.message)
        })
    }

    /// The one at the same place of plugin.json; otherwise, where places differ, the first at the same point.
    fn pick(&self, event: &v1::HookEvent) -> Option<Arc<RunHook>> {
        let hooks = &self.plugin.hooks;
        let placed = hooks.get(event.hook as usize).filter(|hook| hook.name == event.at);
        let hook = placed.or_else(|| hooks.iter().find(|hook| hook.name == event.at))?;
        Some(Arc::clone(&hook.run))
    }
}

fn answer_of(verdict: Verdict) -> Result<v1::HookAnswer> {
    let said = match verdict {
        Verdict::Pass => Said::Pass(true),
        Verdict::Modify(value) => Said::Modify(struct_from(object_from(value)?)),
        Verdict::Block(why) => Said::Block(why),
        Verdict::Answer(value) => Said::Answer(value_from(value)),
        Verdict::Skip => Said::Skip(true),
    };
    let answer = v1::HookAnswer { verdict: Some(said), last: false };
    let bytes = answer.encoded_len();
    if bytes > MAX_ANSWER_BYTES {
        // Sent, it would end the stream with every event on it.
        let message = format!("the hook answered {bytes} bytes; a message has at most 4 MiB");
        return Err(Failure::new(Code::Exhausted, message));
    }
    Ok(answer)
}

fn object_from(value: Value) -> Result<Object> {
    match value {
        Value::Object(object) => Ok(object),
        other => {
            Err(Failure::new(Code::Invalid, format!("the hook modified its event to {other}, which is no object")))
        }
    }
}

fn failed(why: &str) -> v1::HookAnswer {
    let why = if why.is_empty() { "it failed without a word" } else { why };
    v1::HookAnswer { verdict: Some(Said::Failure(why.to_owned())), last: false }
}
