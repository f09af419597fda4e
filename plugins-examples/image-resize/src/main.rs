//! A tool that makes pictures smaller. Try it with:
//!   cargo install --path . --root plugin --no-track --force && claw plugin install plugin
mod resize;

use std::process::ExitCode;

use clawd_plugin::{Call, Plugin, Result};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wish {
    /// The picture, PNG or JPEG; a path in the workspace
    from: String,
    /// Where the smaller one goes, ending in .png, .jpg or .jpeg; a path in the workspace where nothing is yet
    to: String,
    /// The most pixels that it may be wide and high; its proportions stay
    longest_side: u32,
}

async fn run(call: Call, Wish { from, to, longest_side }: Wish) -> Result<String> {
    call.progress(format!("reading {from}"));
    let workspace = call.workspace().to_owned();
    // It keeps a processor busy: other calls go on meanwhile.
    let made = tokio::task::spawn_blocking(move || resize::resize(&workspace, &from, &to, longest_side)).await??;
    Ok(made.to_string())
}

fn plugin() -> Plugin {
    let about = "Makes a smaller copy of a picture (PNG or JPEG), with the same proportions.";
    Plugin::new("image-resize", "1.0.0").tool("resize", about, run)
}

fn main() -> ExitCode {
    clawd_plugin::main(plugin())
}
