//! PluginService of both majors over one core: a result of the first is one text, of the second parts and a failure's code.
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::StreamExt;
use tonic::{Request, Response, Status};

use crate::answer::Part;
use crate::context::{Belongs, Context};
use crate::failure::{Failure, Result};
use crate::json::{object_of, value_from, Object};
use crate::news::Piece;
use crate::plugin::{InForce, Plugin};
use crate::running::{guarded, Facts, Running};
use crate::tool_run::{run_tool, News, ToolRequest};
use crate::wire::{v1, v2};

/// What every major says in its own messages.
#[derive(Clone)]
pub(crate) struct Core {
    pub plugin: Arc<Plugin>,
    pub running: Arc<Running>,
}

type Told<T> = std::result::Result<Response<T>, Status>;
type NewsStream<T> = std::pin::Pin<Box<dyn tokio_stream::Stream<Item = std::result::Result<T, Status>> + Send>>;

impl Core {
    async fn initialize(&self, facts: v1::InitializeRequest) -> std::result::Result<v1::InitializeResponse, Status> {
        let settings = object_of(facts.config);
        let data_folder = (!facts.data_folder.is_empty()).then(|| facts.data_folder.into());
        let facts = Facts { settings, granted: facts.granted, data_folder };
        self.take(&facts).await.map_err(|failure| Status::failed_precondition(failure.message))?;
        self.running.set_facts(facts);
        Ok(v1::InitializeResponse { version: self.plugin.version.clone(), tools: self.tools(), features: Vec::new() })
    }

    /// Why the settings cannot be used, empty when they can, and whether they are in force at the next start only.
    async fn configure(&self, settings: Object) -> (String, bool) {
        let facts = Facts { settings, ..Facts::clone(&self.running.facts()) };
        match self.take(&facts).await {
            Ok(InForce::Now) => {
                self.running.set_facts(facts);
                (String::new(), false)
            }
            Ok(InForce::AfterRestart) => (String::new(), true),
            Err(failure) => (failure.message, false),
        }
    }

    async fn take(&self, facts: &Facts) -> Result<InForce> {
        let cancellation = self.running.gone.child_token();
        // Nobody waits any more when this is dropped.
        let _guard = cancellation.clone().drop_guard();
        let context = Context::with_facts(&self.running, Arc::new(facts.clone()), cancellation);
        let (plugin, settings) = (Arc::clone(&self.plugin), facts.settings.clone());
        guarded("what takes the settings", async move { (plugin.take_settings)(context, settings).await }).await
    }

    fn tools(&self) -> Vec<v1::ToolDeclaration> {
        let tools = self.plugin.tools.iter();
        tools.map(|tool| v1::ToolDeclaration { name: tool.name.clone(), ..Default::default() }).collect()
    }

    fn call_tool(
        &self,
        request: ToolRequest,
    ) -> std::result::Result<ReceiverStream<std::result::Result<News, Status>>, Status> {
        let declared = self.plugin.tools.iter().find(|tool| tool.name == request.tool).cloned();
        let tool = declared.or_else(|| self.running.host.offers().tool(&request.tool));
        Ok(ReceiverStream::new(run_tool(tool, request, &self.running)?))
    }

    async fn drain(&self, time_limit_ms: u32) {
        self.running.refuse_more();
        // Late or not, the host goes on.
        let _ = timeout(Duration::from_millis(time_limit_ms.into()), self.running.idle()).await;
    }

    fn shut_down(&self) {
        self.running.refuse_more();
        self.running.ending.cancel();
    }
}

#[tonic::async_trait]
impl v1::plugin_service_server::PluginService for Core {
    type CallToolStream = NewsStream<v1::CallToolResponse>;

    async fn initialize(&self, request: Request<v1::InitializeRequest>) -> Told<v1::InitializeResponse> {
        Core::initialize(self, request.into_inner()).await.map(Response::new)
    }

    async fn configure(&self, request: Request<v1::ConfigureRequest>) -> Told<v1::ConfigureResponse> {
        let (problem, restart_required) = Core::configure(self, object_of(request.into_inner().config)).await;
        Ok(Response::new(v1::ConfigureResponse { problem, restart_required }))
    }

    async fn list_tools(&self, _: Request<v1::ListToolsRequest>) -> Told<v1::ListToolsResponse> {
        Ok(Response::new(v1::ListToolsResponse { tools: self.tools() }))
    }

    async fn call_tool(&self, request: Request<v1::CallToolRequest>) -> Told<Self::CallToolStream> {
        let v1::CallToolRequest { call_id, session_id, tool, args, time_limit_ms, workspace } = request.into_inner();
        let belongs = Belongs { call_id, session_id, workspace, ..Default::default() };
        let request = ToolRequest { tool, args: object_of(args), belongs, time_limit_ms };
        let news = Core::call_tool(self, request)?.map(|news| Ok(v1::CallToolResponse { news: Some(news1(news?)) }));
        Ok(Response::new(Box::pin(news)))
    }

    async fn drain(&self, request: Request<v1::DrainRequest>) -> Told<v1::DrainResponse> {
        Core::drain(self, request.into_inner().time_limit_ms).await;
        Ok(Response::new(v1::DrainResponse {}))
    }

    async fn shutdown(&self, _: Request<v1::ShutdownRequest>) -> Told<v1::ShutdownResponse> {
        self.shut_down();
        Ok(Response::new(v1::ShutdownResponse {}))
    }
}

fn news1(news: News) -> v1::call_tool_response::News {
    use v1::call_tool_response::News as Said;
    match news {
        News::Piece(Piece::Progress(line)) => Said::Progress(line),
        News::Piece(Piece::Output(data)) => Said::Output(v1::OutputChunk { data }),
        News::Result(outcome) => {
            let is_error = outcome.is_err();
            let text = outcome.map_or_else(|failure| failure.message, |parts| text_of(&parts));
            Said::Result(v1::ToolResult { is_error, text })
        }
    }
}

fn text_of(parts: &[Part]) -> String {
    let texts = parts.iter().map(|part| match part {
        Part::Text(text) => text.clone(),
        Part::Json(value) => value.to_string(),
        Part::Artifact(id) => format!("[artifact {id}]"),
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[tonic::async_trait]
impl v2::plugin_service_server::PluginService for Core {
    type CallToolStream = NewsStream<v2::CallToolResponse>;

    async fn initialize(&self, request: Request<v2::InitializeRequest>) -> Told<v2::InitializeResponse> {
        let facts = Core::initialize(self, request.into_inner().facts.unwrap_or_default()).await?;
        Ok(Response::new(v2::InitializeResponse { facts: Some(facts) }))
    }

    async fn configure(&self, request: Request<v2::ConfigureRequest>) -> Told<v2::ConfigureResponse> {
        let (problem, restart_required) = Core::configure(self, object_of(request.into_inner().config)).await;
        Ok(Response::new(v2::ConfigureResponse { problem, restart_required }))
    }

    async fn list_tools(&self, _: Request<v2::ListToolsRequest>) -> Told<v2::ListToolsResponse> {
        Ok(Response::new(v2::ListToolsResponse { tools: self.tools() }))
    }

    async fn call_tool(&self, request: Request<v2::CallToolRequest>) -> Told<Self::CallToolStream> {
        let v2::CallToolRequest { call_id, session_id, tool, args, time_limit_ms, workspace } = request.into_inner();
        let belongs = Belongs { call_id, session_id, workspace, ..Default::default() };
        let request = ToolRequest { tool, args: object_of(args), belongs, time_limit_ms };
        let news = Core::call_tool(self, request)?.map(|news| Ok(v2::CallToolResponse { news: Some(news2(news?)) }));
        Ok(Response::new(Box::pin(news)))
    }

    async fn drain(&self, request: Request<v2::DrainRequest>) -> Told<v2::DrainResponse> {
        Core::drain(self, request.into_inner().time_limit_ms).await;
        Ok(Response::new(v2::DrainResponse {}))
    }

    async fn shutdown(&self, _: Request<v2::ShutdownRequest>) -> Told<v2::ShutdownResponse> {
        self.shut_down();
        Ok(Response::new(v2::ShutdownResponse {}))
    }
}

fn news2(news: News) -> v2::call_tool_response::News {
    use v2::call_tool_response::News as Said;
    match news {
        News::Piece(Piece::Progress(line)) => Said::Progress(line),
        News::Piece(Piece::Output(data)) => Said::Output(v1::OutputChunk { data }),
        News::Result(outcome) => Said::Result(result2(outcome)),
    }
}

fn result2(outcome: Result<Vec<Part>>) -> v2::ToolResult {
    match outcome {
        Ok(parts) => v2::ToolResult { parts: parts.into_iter().map(part2).collect(), failure: None },
        Err(Failure { code, message, hint, category, retryable }) => v2::ToolResult {
            parts: vec![part2(Part::Text(message.clone()))],
            failure: Some(v2::ToolFailure { code: code.name().to_owned(), message, hint, category, retryable }),
        },
    }
}

fn part2(part: Part) -> v2::ResultPart {
    use v2::result_part::Part as Said;
    let said = match part {
        Part::Text(text) => Said::Text(text),
        Part::Json(value) => Said::Json(value_from(value)),
        Part::Artifact(id) => Said::ArtifactId(id),
    };
    v2::ResultPart { part: Some(said) }
}
