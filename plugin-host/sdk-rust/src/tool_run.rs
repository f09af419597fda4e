use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tonic::Status;

use crate::answer::Part;
use crate::context::{Belongs, Call, Context, Conversation};
use crate::failure::{Failure, Result};
use crate::json::Object;
use crate::news::{NewsQueue, Piece};
use crate::plugin::Tool;
use crate::running::{host_gone, Running, CANCEL_GRACE};

/// Longer than any call: the host has given one up after a day at most.
const NO_LIMIT: Duration = Duration::from_secs(2 * 24 * 60 * 60);

/// What a call says, in the terms of no major.
pub(crate) enum News {
    Piece(Piece),
    Result(Result<Vec<Part>>),
}

pub(crate) struct ToolRequest {
    pub tool: String,
    pub args: Object,
    pub belongs: Belongs,
    pub time_limit_ms: u32,
}

/// Runs one call: progress and output as they come, then the result, exactly once. Without a result when nobody reads it.
pub(crate) fn run_tool(
    tool: Option<Tool>,
    request: ToolRequest,
    running: &Running,
) -> std::result::Result<mpsc::Receiver<std::result::Result<News, Status>>, Status> {
    let tool = tool.ok_or_else(|| Status::not_found(format!("there is no tool \"{}\" here", request.tool)))?;
    let at_work = running.begin()?;
    let cancellation = running.gone.child_token();
    let conversation = Conversation::new(Context::new(running, cancellation.clone()), request.belongs);
    let news = Arc::new(NewsQueue::default());
    let call = Call::new(conversation, Arc::clone(&news));
    let limit = match request.time_limit_ms {
        0 => NO_LIMIT,
        limit_ms => Duration::from_millis(limit_ms.into()),
    };
    // One message at a time: the tool can be no faster than the host reads.
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        // A task of its own: a panic in it is the failure of this call.
        let work = AbortOnDropHandle::new(tokio::spawn(async move { tool.run(call, request.args).await }));
        tell(work, &news, sender, cancellation, limit).await;
        drop(at_work);
    });
    Ok(receiver)
}

async fn tell(
    mut work: AbortOnDropHandle<Result<crate::Answer>>,
    news: &NewsQueue,
    sender: mpsc::Sender<std::result::Result<News, Status>>,
    cancellation: CancellationToken,
    limit: Duration,
) {
    let late = sleep(limit);
    tokio::pin!(late);
    let why = loop {
        tokio::select! {
            biased;
            () = sender.closed() => break None,
            () = cancellation.cancelled() => break Some(host_gone()),
            () = &mut late => break Some(Status::deadline_exceeded("it took too long")),
            piece = news.next() => {
                if sender.send(Ok(News::Piece(piece))).await.is_err() {
                    break None;
                }
            }
            outcome = &mut work => {
                // What it said before its result comes before it.
                while let Some(piece) = news.take() {
                    if sender.send(Ok(News::Piece(piece))).await.is_err() {
                        return;
                    }
                }
                let outcome = outcome.unwrap_or_else(|error| Err(Failure::of_panic("the tool", error)));
                if let Err(failure) = &outcome {
                    eprintln!("{failure}");
                }
                // Nobody reads it when the call was cancelled at this very moment.
                let _ = sender.send(Ok(News::Result(outcome.map(|answer| answer.0)))).await;
                return;
            }
        }
    };
    cancellation.cancel();
    news.end();
    let ended = async {
        if let Some(why) = why {
            // Without a result this is no good end. When the host is slow to hear it, that is no matter any more.
            let _ = sender.send(Err(why)).await;
        }
        drop(sender);
        let _ = work.await;
    };
    // What does not listen is dropped where it awaits.
    let _ = timeout(CANCEL_GRACE, ended).await;
}
