use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status};

use crate::bearer::ShowBearer;
use crate::failure::{Failure, Result};
use crate::json::{object_of, struct_from, value_from, value_of, Object};
use crate::offer::{LiveOffers, Offered, OfferedCommand, OfferedTool};
use crate::wire::v1;
use crate::wire::v1::host_service_client::HostServiceClient;
use crate::words::Words;
use crate::MAX_MESSAGE_BYTES;

const HOST_TIMEOUT: Duration = Duration::from_secs(30);
/// A person, or a tool that a person has to allow, takes its time; the host draws the end.
const UNHURRIED_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);
/// The most that one message of an artifact may hold.
const MAX_ARTIFACT_PIECE_BYTES: usize = 1024 * 1024;

/// How much a line of the log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// For the author.
    Debug,
    /// Worth knowing.
    Info,
    /// Something is odd.
    Warning,
    /// Something failed.
    Error,
}

/// One hit of a memory search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recollection {
    /// The text.
    pub text: String,
    /// Where it is from: a path or a note's id.
    pub source: String,
}

/// A person's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// True for a yes. Nobody there means no.
    pub yes: bool,
    /// False when nobody was there or answered in time.
    pub answered: bool,
}

/// What another tool's call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolReply {
    /// What a model would read.
    pub text: String,
    /// True when it failed or was not allowed.
    pub is_error: bool,
}

/// What the host does for a plugin. Everything fails when the host refuses or is gone.
#[derive(Clone)]
pub struct Host {
    client: HostServiceClient<InterceptedService<Channel, ShowBearer>>,
    offers: Arc<LiveOffers>,
}

impl Host {
    /// Opens no connection before the first call. To be called within a runtime.
    pub(crate) fn dial(socket: &str, token: &str) -> Result<Self> {
        let channel = Endpoint::from_shared(format!("unix://{socket}"))?.connect_lazy();
        let client = HostServiceClient::with_interceptor(channel, ShowBearer::new(token)?)
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        Ok(Host { client, offers: Arc::default() })
    }

    /// Writes a line to the plugin's log (`claw plugin logs NAME`). Needs no permission. Whatever the plugin prints is in
    /// that log, too.
    pub async fn log(&self, level: Level, message: impl Into<String>) -> Result<()> {
        let level = match level {
            Level::Debug => v1::LogLevel::Debug,
            Level::Info => v1::LogLevel::Info,
            Level::Warning => v1::LogLevel::Warning,
            Level::Error => v1::LogLevel::Error,
        };
        let request = v1::LogRequest { level: level.into(), message: message.into() };
        told(self.client.clone().log(hurried(request)).await)?;
        Ok(())
    }

    /// Searches long-term memory, best first. Needs the permission `memory=read`.
    pub async fn recall(&self, query: impl Into<String>, limit: u32) -> Result<Vec<Recollection>> {
        let request = v1::RecallRequest { query: query.into(), limit };
        let hits = told(self.client.clone().recall(hurried(request)).await)?.hits;
        Ok(hits.into_iter().map(|v1::Recollection { text, source }| Recollection { text, source }).collect())
    }

    /// A value of the plugin's own that outlives it, by its key of 1 to 256 characters; `None` when there is none.
    pub async fn value(&self, key: impl Into<String>) -> Result<Option<Value>> {
        let request = v1::GetValueRequest { key: key.into() };
        let found = told(self.client.clone().get_value(hurried(request)).await)?;
        Ok(found.found.then(|| found.value.map_or(Value::Null, value_of)))
    }

    /// Keeps a value: any JSON of at most 64 KiB. It is durable when this returns.
    pub async fn set_value(&self, key: impl Into<String>, value: impl Serialize) -> Result<()> {
        let value = Some(value_from(serde_json::to_value(value)?));
        let request = v1::SetValueRequest { key: key.into(), value };
        told(self.client.clone().set_value(hurried(request)).await)?;
        Ok(())
    }

    /// Takes a value out; it need not be there.
    pub async fn delete_value(&self, key: impl Into<String>) -> Result<()> {
        let request = v1::DeleteValueRequest { key: key.into() };
        told(self.client.clone().delete_value(hurried(request)).await)?;
        Ok(())
    }

    /// The keys that begin so, in their order; all, where the prefix is empty.
    pub async fn keys(&self, prefix: impl Into<String>) -> Result<Vec<String>> {
        let request = v1::ListKeysRequest { prefix: prefix.into() };
        Ok(told(self.client.clone().list_keys(hurried(request)).await)?.keys)
    }

    /// A text of the plugin's own that stands in no journal and is blotted out in its log; `None` when there is none.
    pub async fn secret(&self, key: impl Into<String>) -> Result<Option<String>> {
        let request = v1::GetSecretRequest { key: key.into() };
        let v1::GetSecretResponse { found, value } = told(self.client.clone().get_secret(hurried(request)).await)?;
        Ok(found.then_some(value))
    }

    /// Keeps one: at most 32, by keys of 1 to 64 characters, of 64 KiB each. An empty text takes it out. It is durable when
    /// this returns.
    pub async fn set_secret(&self, key: impl Into<String>, value: impl Into<String>) -> Result<()> {
        let request = v1::SetSecretRequest { key: key.into(), value: value.into() };
        told(self.client.clone().set_secret(hurried(request)).await)?;
        Ok(())
    }

    /// Says which tools and slash commands there are now beside those of plugin.json, which must say `"dynamic": true`; what was
    /// offered before and is missing here is gone. The host knows them, too, while the plugin does not run: offer them again in
    /// [`Plugin::configure`](crate::Plugin::configure), which comes before any call.
    pub async fn offer(
        &self,
        tools: impl IntoIterator<Item = OfferedTool>,
        commands: impl IntoIterator<Item = OfferedCommand>,
    ) -> Result<Offered> {
        let (tools, commands) = (tools.into_iter().collect(), commands.into_iter().collect());
        let tell = |request| async { told(self.client.clone().offer(hurried(request)).await) };
        self.offers.replace(tools, commands, tell).await
    }

    pub(crate) fn offers(&self) -> &LiveOffers {
        &self.offers
    }

    /// Keeps bytes of any length as an artifact and gives its id, which a result may name ([`Part::Artifact`](crate::Part)).
    pub async fn write_artifact(&self, data: &[u8], mime_type: impl Into<String>) -> Result<String> {
        self.add_to_artifact(String::new(), data, mime_type.into()).await
    }

    /// Adds bytes to an artifact of the plugin's own.
    pub async fn append_artifact(&self, id: impl Into<String>, data: &[u8]) -> Result<()> {
        self.add_to_artifact(id.into(), data, String::new()).await?;
        Ok(())
    }

    async fn add_to_artifact(&self, mut artifact_id: String, data: &[u8], mime_type: String) -> Result<String> {
        let mut rest = data;
        // At least one message, so that an empty artifact is one too.
        loop {
            let (piece, more) = rest.split_at(rest.len().min(MAX_ARTIFACT_PIECE_BYTES));
            let request = v1::WriteArtifactRequest { artifact_id, data: piece.to_vec(), mime_type: mime_type.clone() };
            artifact_id = told(self.client.clone().write_artifact(hurried(request)).await)?.artifact_id;
            if more.is_empty() {
                return Ok(artifact_id);
            }
            rest = more;
        }
    }

    /// All bytes of an artifact of the plugin's own.
    pub async fn read_artifact(&self, id: impl Into<String>) -> Result<Vec<u8>> {
        self.read_artifact_part(id, 0, usize::MAX).await
    }

    /// Those from `offset` on, at most `limit` of them; fewer where it ends.
    pub async fn read_artifact_part(&self, id: impl Into<String>, offset: u64, limit: usize) -> Result<Vec<u8>> {
        let artifact_id = id.into();
        let mut all = Vec::new();
        loop {
            let most = (limit - all.len()).min(MAX_ARTIFACT_PIECE_BYTES);
            if most == 0 {
                return Ok(all);
            }
            let (offset_bytes, limit_bytes) = ((offset + all.len() as u64) as f64, most as u32);
            let request = v1::ReadArtifactRequest { artifact_id: artifact_id.clone(), offset_bytes, limit_bytes };
            let data = told(self.client.clone().read_artifact(hurried(request)).await)?.data;
            if data.is_empty() {
                return Ok(all);
            }
            all.extend_from_slice(&data);
        }
    }

    pub(crate) async fn progress(&self, call_id: String, text: String) -> Result<()> {
        let request = v1::ProgressRequest { call_id, text };
        told(self.client.clone().progress(hurried(request)).await)?;
        Ok(())
    }

    pub(crate) async fn ask(&self, call_id: String, question: String) -> Result<Word> {
        let request = v1::AskRequest { call_id, question, ..Default::default() };
        let v1::AskResponse { yes, answered, .. } = told(self.client.clone().ask(unhurried(request)).await)?;
        Ok(Word { yes, answered })
    }

    pub(crate) async fn ask_form(&self, call_id: String, question: String, schema: Object) -> Result<(Word, Object)> {
        let request = v1::AskRequest { call_id, question, requested_schema: Some(struct_from(schema)) };
        let v1::AskResponse { yes, answered, content } = told(self.client.clone().ask(unhurried(request)).await)?;
        Ok((Word { yes, answered }, object_of(content)))
    }

    pub(crate) async fn generate(&self, request: v1::HostServiceGenerateRequest) -> Result<Words> {
        Ok(told(self.client.clone().generate(unhurried(request)).await)?.into())
    }

    pub(crate) async fn call_tool(&self, call_id: String, tool: String, args: Object) -> Result<ToolReply> {
        let request = v1::HostServiceCallToolRequest { call_id, tool, args: Some(struct_from(args)) };
        let reply = told(self.client.clone().call_tool(unhurried(request)).await)?;
        Ok(ToolReply { text: reply.text, is_error: reply.is_error })
    }
}

fn hurried<T>(message: T) -> Request<T> {
    within(message, HOST_TIMEOUT)
}

fn unhurried<T>(message: T) -> Request<T> {
    within(message, UNHURRIED_TIMEOUT)
}

fn within<T>(message: T, timeout: Duration) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(timeout);
    request
}

fn told<T>(answer: std::result::Result<Response<T>, Status>) -> Result<T> {
    answer.map(Response::into_inner).map_err(Failure::of_host)
}
