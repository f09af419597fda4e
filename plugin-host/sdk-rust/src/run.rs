use std::future::Future;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixListener;
use tokio::time::timeout;
use tokio_stream::wrappers::UnixListenerStream;
use tokio_util::sync::CancellationToken;
use tonic::service::{InterceptorLayer, Routes};
use tonic::transport::Server;
use tonic::{Request, Response, Status};

use crate::bearer::ExpectBearer;
use crate::boot::{read_boot, say_hello};
use crate::core::Core;
use crate::failure::Result;
use crate::hook::ServeHooks;
use crate::host::Host;
use crate::memory::{ServeEmbedders, ServeMemorySources};
use crate::model::ServeModels;
use crate::plugin::Plugin;
use crate::running::Running;
use crate::slash::ServeSlashCommands;
use crate::wire::health::health_check_response::ServingStatus;
use crate::wire::health::health_server::{Health, HealthServer};
use crate::wire::health::{HealthCheckRequest, HealthCheckResponse};
use crate::wire::v1::embed_service_server::EmbedServiceServer;
use crate::wire::v1::hook_service_server::HookServiceServer;
use crate::wire::v1::memory_source_service_server::MemorySourceServiceServer;
use crate::wire::v1::model_service_server::ModelServiceServer;
use crate::wire::v1::slash_command_service_server::SlashCommandServiceServer;
use crate::wire::{v1, v2};
use crate::MAX_MESSAGE_BYTES;

/// How long everything may take to tidy up after the host is gone, and after it has said to end.
const TIDY: Duration = Duration::from_millis(500);
const STOP: Duration = Duration::from_secs(2);
/// EX_USAGE of sysexits.h: started by hand, not by a host.
const EXIT_NO_HOST: u8 = 64;
/// A plugin has a number of threads that its manifest allows, whatever the machine has of processors.
const MAX_WORKER_THREADS: usize = 4;
const MAX_BLOCKING_THREADS: usize = 16;

/// Runs a plugin on a runtime of its own until its host is gone or says to end. What it gives is what `main` gives:
///
/// ```no_run
/// use clawd_plugin::Plugin;
///
/// fn main() -> std::process::ExitCode {
///     clawd_plugin::main(Plugin::new("hello", "1.0.0"))
/// }
/// ```
pub fn main(plugin: Plugin) -> ExitCode {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(processors.min(MAX_WORKER_THREADS))
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .enable_all()
        .build();
    match runtime {
        Ok(runtime) => {
            let code = runtime.block_on(plugin.run());
            // What still computes has no reader.
            runtime.shutdown_background();
            code
        }
        Err(error) => {
            eprintln!("the plugin cannot start: {error}");
            ExitCode::FAILURE
        }
    }
}

impl Plugin {
    /// Serves the plugin until its host is gone or says to end, on the runtime of whoever calls; [`main`] brings one. Gives
    /// the code that the process must end with. Started by hand the plugin explains itself and gives 64.
    pub async fn run(self) -> ExitCode {
        if std::env::var_os("CLAWD_PLUGIN").is_none_or(|value| value != "1") {
            eprintln!("{} {} is a plugin of clawd and runs only inside it.", self.name, self.version);
            eprintln!("Install it with:  claw plugin install FOLDER   (the folder that holds plugin.json)");
            return ExitCode::from(EXIT_NO_HOST);
        }
        match serve(Arc::new(self)).await {
            Ok(code) => code,
            Err(failure) => {
                eprintln!("{failure}");
                ExitCode::FAILURE
            }
        }
    }
}

async fn serve(plugin: Arc<Plugin>) -> Result<ExitCode> {
    let gone = CancellationToken::new();
    let boot = read_boot(gone.clone()).await?;
    let major = match boot.choose_major() {
        Ok(major) => major,
        Err(why) => {
            say_hello(Err(&why))?;
            return Ok(ExitCode::FAILURE);
        }
    };
    let running = Running::new(Host::dial(&boot.host, &boot.outbound_token)?, gone.clone());
    let socket = UnixListenerStream::new(UnixListener::bind(&boot.listen)?);
    let server = Server::builder()
        .layer(InterceptorLayer::new(ExpectBearer::new(&boot.inbound_token)))
        .add_routes(routes(&plugin, &running, major))
        .serve_with_incoming_shutdown(socket, running.ending.clone().cancelled_owned());
    say_hello(Ok(major))?;
    tokio::select! {
        // Graceful: the answers under way, that of Shutdown included, are still sent.
        ended = server => {
            ended?;
            tidy(&plugin, STOP, std::future::ready(())).await;
        }
        () = gone.cancelled() => {
            running.refuse_more();
            tidy(&plugin, TIDY, running.idle()).await;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Lets the plugin tidy up when what runs has ended. The process ends all the same, whatever comes of it.
async fn tidy(plugin: &Plugin, limit: Duration, ended: impl Future<Output = ()>) {
    let stop = async {
        ended.await;
        match &plugin.stop {
            Some(stop) => stop().await,
            None => Ok(()),
        }
    };
    if let Ok(Err(failure)) = timeout(limit, stop).await {
        eprintln!("stop failed: {failure}");
    }
}

/// A service with the limits of a message.
macro_rules! limited {
    ($server:ident, $service:expr) => {
        $server::new($service).max_decoding_message_size(MAX_MESSAGE_BYTES).max_encoding_message_size(MAX_MESSAGE_BYTES)
    };
}

/// What the plugin serves. What it does not bring is answered by "unimplemented".
fn routes(plugin: &Arc<Plugin>, running: &Arc<Running>, major: u32) -> Routes {
    use v1::plugin_service_server::PluginServiceServer as PluginServer1;
    use v2::plugin_service_server::PluginServiceServer as PluginServer2;
    let (plugin, running) = (|| Arc::clone(plugin), || Arc::clone(running));
    let core = Core { plugin: plugin(), running: running() };
    let mut routes = Routes::new(HealthServer::new(Healthy));
    routes = match major {
        1 => routes.add_service(limited!(PluginServer1, core)),
        _ => routes.add_service(limited!(PluginServer2, core)),
    };
    if !plugin().hooks.is_empty() {
        routes = routes.add_service(limited!(HookServiceServer, ServeHooks { plugin: plugin(), running: running() }));
    }
    if !plugin().models.is_empty() {
        routes = routes.add_service(limited!(ModelServiceServer, ServeModels { plugin: plugin(), running: running() }));
    }
    if !plugin().embedders.is_empty() {
        let embedders = ServeEmbedders { plugin: plugin(), running: running() };
        routes = routes.add_service(limited!(EmbedServiceServer, embedders));
    }
    if !plugin().memory_sources.is_empty() {
        let sources = ServeMemorySources { plugin: plugin(), running: running() };
        routes = routes.add_service(limited!(MemorySourceServiceServer, sources));
    }
    // Always: commands may be offered later.
    let commands = ServeSlashCommands { plugin: plugin(), running: running() };
    routes.add_service(limited!(SlashCommandServiceServer, commands))
}

struct Healthy;

#[tonic::async_trait]
impl Health for Healthy {
    async fn check(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> std::result::Result<Response<HealthCheckResponse>, Status> {
        Ok(Response::new(HealthCheckResponse { status: ServingStatus::Serving.into() }))
    }

    type WatchStream = tokio_stream::Empty<std::result::Result<HealthCheckResponse, Status>>;

    async fn watch(&self, _: Request<HealthCheckRequest>) -> std::result::Result<Response<Self::WatchStream>, Status> {
        Err(Status::unimplemented("ask with Check"))
    }
}
