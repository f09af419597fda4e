//! Everything that a plugin of clawd written in Rust needs.
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use clawd_plugin::{Call, Plugin};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Text {
//!     /// The text
//!     text: String,
//! }
//!
//! fn plugin() -> Plugin {
//!     Plugin::new("words", "1.0.0").tool("count", "Counts the words of a text.", |call: Call, input: Text| async move {
//!         call.progress("counting");
//!         Ok(format!("{} words", input.text.split_whitespace().count()))
//!     })
//! }
//!
//! fn main() -> ExitCode {
//!     clawd_plugin::main(plugin())
//! }
//! ```
//!
//! `plugin.json` says the same to people and to the model before anything runs: descriptions, schemas of arguments,
//! permissions. [`Plugin::check_manifest`] tells in a test where the two differ.
//!
//! What a plugin prints is its log (`claw plugin logs NAME`); a line of JSON with `level` and `msg` has that level. The
//! library does the rest: tokens, versions of the protocol, cancelling, draining, health. A panic ends the call in which it
//! happened, and nothing else; a plugin must therefore not be built with `panic = "abort"`.
//!
//! [`Context`] is what everything that runs gets, [`Conversation`] adds what belongs to a conversation, and [`Call`] what
//! belongs to the call of a tool. Each has all that the one before has.
#![warn(missing_docs)]

mod answer;
mod bearer;
mod boot;
mod context;
mod core;
mod failure;
mod form;
mod hook;
mod host;
mod json;
mod manifest;
mod memory;
mod model;
mod news;
mod offer;
mod plugin;
mod run;
mod running;
mod slash;
mod tool_run;
mod wire;
mod words;

pub use answer::{Answer, Part};
pub use context::{Call, Context, Conversation};
pub use failure::{Code, Failure, Result};
pub use form::Form;
pub use hook::{Event, Verdict};
pub use host::{Host, Level, Recollection, ToolReply, Word};
pub use json::Object;
pub use memory::{Documents, TextKind};
pub use model::{End, Message, ModelPart, ModelRequest, ModelTool, Reply, Stop};
pub use offer::{Offered, OfferedCommand, OfferedTool};
pub use plugin::{InForce, Plugin};
pub use run::main;
pub use slash::{SlashAnswer, WholeAnswer};
pub use words::{Prompt, Words};

/// One message either way; the limit of most gRPC libraries.
const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;
