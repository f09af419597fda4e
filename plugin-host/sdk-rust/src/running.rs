use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use tonic::Status;

use crate::failure::{Failure, Result};
use crate::host::Host;
use crate::json::Object;

/// How long a tool or a hook may go on when nobody waits for it any more.
pub(crate) const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// What the host said at the start; the settings change when a person changes them.
#[derive(Clone, Default)]
pub(crate) struct Facts {
    pub settings: Object,
    pub granted: Vec<String>,
    pub data_folder: Option<PathBuf>,
}

/// One life of a plugin: what everything that it serves is run with.
pub(crate) struct Running {
    pub host: Host,
    facts: RwLock<Arc<Facts>>,
    /// When the host is gone.
    pub gone: CancellationToken,
    /// When the host has said to end: what stands open for its own sake is closed.
    pub ending: CancellationToken,
    /// What runs at this moment.
    work: TaskTracker,
}

impl Running {
    pub(crate) fn new(host: Host, gone: CancellationToken) -> Arc<Self> {
        let ending = CancellationToken::new();
        Arc::new(Running { host, facts: RwLock::default(), gone, ending, work: TaskTracker::new() })
    }

    pub(crate) fn facts(&self) -> Arc<Facts> {
        Arc::clone(&self.facts.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set_facts(&self, facts: Facts) {
        *self.facts.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(facts);
    }

    /// Something runs until the token is dropped, unless the plugin takes nothing new.
    pub(crate) fn begin(&self) -> std::result::Result<TaskTrackerToken, Status> {
        // Taken before the look: whoever closes in between waits for it.
        let token = self.work.token();
        if self.work.is_closed() {
            return Err(Status::unavailable("the plugin is about to end and takes nothing new"));
        }
        Ok(token)
    }

    /// From now on nothing new begins.
    pub(crate) fn refuse_more(&self) {
        self.work.close();
    }

    /// Waits until nothing runs. To be called after `refuse_more`.
    pub(crate) async fn idle(&self) {
        self.work.wait().await;
    }
}

/// Runs what an author wrote in a task of its own, which ends with this one: a panic in it is its failure and nothing more.
pub(crate) async fn guarded<T: Send + 'static>(
    what: &str,
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    match AbortOnDropHandle::new(tokio::spawn(work)).await {
        Ok(outcome) => outcome,
        Err(error) => Err(Failure::of_panic(what, error)),
    }
}

/// Waits until something is cancelled, and for as long as it may go on then.
pub(crate) async fn grace_after(cancellation: &CancellationToken) {
    cancellation.cancelled().await;
    sleep(CANCEL_GRACE).await;
}

/// How what runs ends when the host is gone: not well, whatever came before.
pub(crate) fn host_gone() -> Status {
    Status::cancelled("the plugin ends, because its host is gone")
}

/// The author's words reach the host, with a code by which it knows them from those of a process that breaks.
pub(crate) fn aborted(failure: Failure) -> Status {
    eprintln!("{failure}");
    Status::aborted(failure.message)
}
