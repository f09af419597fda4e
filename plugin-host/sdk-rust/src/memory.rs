use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::task::AbortOnDropHandle;
use tonic::{Request, Response, Status};

use crate::context::Context;
use crate::failure::{Code, Failure, Result};
use crate::plugin::{find, Plugin};
use crate::running::{aborted, guarded, host_gone, Running};
use crate::wire::v1;
use crate::wire::v1::embed_service_server::EmbedService;
use crate::wire::v1::memory_source_service_server::MemorySourceService;

/// What texts to embed are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// What is looked for.
    Query,
    /// What is kept.
    Document,
}

type Sender = mpsc::Sender<std::result::Result<v1::ListDocumentsResponse, Status>>;

/// Where the documents of a source go.
#[derive(Clone)]
pub struct Documents(Sender);

impl Documents {
    /// Gives one. The id names it for ever, e.g. a path or an address, in at most 1024 characters; the title is for people.
    /// Waits while the host reads slower, and fails when nobody reads any more.
    pub async fn give(&self, id: impl Into<String>, text: impl Into<String>, title: impl Into<String>) -> Result<()> {
        let document = v1::ListDocumentsResponse { document_id: id.into(), text: text.into(), title: title.into() };
        let sent = self.0.send(Ok(document)).await;
        sent.map_err(|_| Failure::new(Code::Unavailable, "nobody waits for these documents any more"))
    }
}

/// Turns texts into vectors.
pub(crate) struct ServeEmbedders {
    pub plugin: Arc<Plugin>,
    pub running: Arc<Running>,
}

#[tonic::async_trait]
impl EmbedService for ServeEmbedders {
    async fn embed(
        &self,
        request: Request<v1::EmbedRequest>,
    ) -> std::result::Result<Response<v1::EmbedResponse>, Status> {
        let v1::EmbedRequest { embedder: id, texts, is_query } = request.into_inner();
        let Some(embedder) = find(&self.plugin.embedders, &id) else {
            return Err(Status::not_found(format!("there is no embedder \"{id}\" here")));
        };
        let _at_work = self.running.begin()?;
        let cancellation = self.running.gone.child_token();
        // Nobody waits any more when this is dropped.
        let _guard = cancellation.clone().drop_guard();
        let context = Context::new(&self.running, cancellation);
        let kind = if is_query { TextKind::Query } else { TextKind::Document };
        let work = async move { (embedder.run)(context, texts, kind).await };
        let vectors = guarded("the embedder", work).await.map_err(aborted)?;
        let vectors = vectors.into_iter().map(|values| v1::Vector { values }).collect();
        Ok(Response::new(v1::EmbedResponse { vectors }))
    }
}

/// Gives the documents of its sources.
pub(crate) struct ServeMemorySources {
    pub plugin: Arc<Plugin>,
    pub running: Arc<Running>,
}

#[tonic::async_trait]
impl MemorySourceService for ServeMemorySources {
    type ListDocumentsStream = ReceiverStream<std::result::Result<v1::ListDocumentsResponse, Status>>;

    async fn list_documents(
        &self,
        request: Request<v1::ListDocumentsRequest>,
    ) -> std::result::Result<Response<Self::ListDocumentsStream>, Status> {
        let name = request.into_inner().source;
        let Some(source) = find(&self.plugin.memory_sources, &name) else {
            return Err(Status::not_found(format!("there is no memory source \"{name}\" here")));
        };
        let at_work = self.running.begin()?;
        let cancellation = self.running.gone.child_token();
        let context = Context::new(&self.running, cancellation.clone());
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            let documents = Documents(sender.clone());
            let mut work = AbortOnDropHandle::new(tokio::spawn(async move { (source.run)(context, documents).await }));
            tokio::select! {
                () = sender.closed() => {}
                // What was given so far is not all.
                () = cancellation.cancelled() => drop(sender.try_send(Err(host_gone()))),
                ended = &mut work => {
                    let ended = ended.unwrap_or_else(|error| Err(Failure::of_panic("the memory source", error)));
                    if let Err(failure) = ended {
                        // Without a reader it is told to the log alone.
                        let _ = sender.send(Err(aborted(failure))).await;
                    }
                }
            }
            cancellation.cancel();
            drop(at_work);
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }
}
