use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::FromRawFd;

use serde::Deserialize;
use serde_json::json;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::failure::{Code, Failure, Result};

/// The descriptor on which the host waits for the one line of Hello.
const HELLO_DESCRIPTOR: i32 = 3;
const MAX_BOOT_BYTES: u64 = 64 * 1024;
/// The only form of Boot and Hello that this library speaks.
const BOOT_VERSION: u32 = 1;
/// The majors of clawd.plugin that it speaks, the best last.
const MAJORS: [u32; 2] = [1, 2];
/// Says which library it is, for logs.
const SDK: &str = concat!("clawd-plugin-rust/", env!("CARGO_PKG_VERSION"));

/// The host's first line. What a newer host says beyond it is passed over.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Boot {
    boot_version: u32,
    protocol_majors: Vec<u32>,
    pub listen: String,
    pub host: String,
    pub inbound_token: String,
    pub outbound_token: String,
}

impl Boot {
    /// The highest major that both sides speak, or why there is none.
    pub(crate) fn choose_major(&self) -> std::result::Result<u32, String> {
        if self.boot_version != BOOT_VERSION {
            let theirs = self.boot_version;
            return Err(format!("{SDK} knows form {BOOT_VERSION} of Boot, the host speaks form {theirs}"));
        }
        let common = MAJORS.into_iter().rev().find(|major| self.protocol_majors.contains(major));
        common.ok_or_else(|| {
            let offered: Vec<String> = self.protocol_majors.iter().map(u32::to_string).collect();
            let offered = if offered.is_empty() { "none".to_owned() } else { offered.join(", ") };
            format!("{SDK} speaks clawd.plugin major 1 and 2, the host speaks {offered}")
        })
    }
}

/// Reads the host's first line from standard input and keeps reading: its end means that the host is gone, which `gone` tells.
pub(crate) async fn read_boot(gone: CancellationToken) -> Result<Boot> {
    let (sender, line) = oneshot::channel();
    // A thread of its own: it waits in a read for as long as the plugin lives.
    std::thread::Builder::new().name("host".to_owned()).spawn(move || {
        let mut input = BufReader::new(std::io::stdin());
        let mut first = Vec::new();
        let read = input.by_ref().take(MAX_BOOT_BYTES).read_until(b'\n', &mut first);
        // Nobody waits for it when the runtime was stopped.
        let _ = sender.send(read.map(|_| first));
        // What else comes means nothing; its end, or an error, does.
        let _ = std::io::copy(&mut input, &mut std::io::sink());
        gone.cancel();
    })?;
    let line = line.await??;
    if line.is_empty() {
        return Err(Failure::new(Code::Invalid, "standard input ended before the Boot line"));
    }
    serde_json::from_slice(&line).map_err(|error| {
        Failure::new(Code::Invalid, format!("the first line on standard input is no Boot line: {error}"))
    })
}

/// Tells the host which major is spoken, or why nothing ever will be.
pub(crate) fn say_hello(major: std::result::Result<u32, &str>) -> Result<()> {
    let (major, error) = match major {
        Ok(major) => (major, ""),
        Err(error) => (0, error),
    };
    let hello = json!({
        "bootVersion": BOOT_VERSION,
        "protocolMajor": major,
        "sdk": SDK,
        "error": error,
        "wire": "WIRE_GRPC",
    });
    // SAFETY: whoever set CLAWD_PLUGIN opened descriptor 3 for this line before the process began, and nothing else of it
    // knows of it. It is closed here.
    let mut to = unsafe { File::from_raw_fd(HELLO_DESCRIPTOR) };
    to.write_all(format!("{hello}\n").as_bytes())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boot(version: u32, majors: &[u32]) -> Boot {
        Boot { boot_version: version, protocol_majors: majors.to_vec(), ..Boot::default() }
    }

    #[test]
    fn the_highest_major_that_both_speak_is_chosen() {
        assert_eq!(boot(1, &[1, 2, 3]).choose_major(), Ok(2));
        assert_eq!(boot(1, &[1]).choose_major(), Ok(1));
    }

    #[test]
    fn where_there_is_none_it_says_why() {
        assert!(boot(1, &[7]).choose_major().unwrap_err().ends_with("the host speaks 7"));
        assert!(boot(1, &[]).choose_major().unwrap_err().ends_with("the host speaks none"));
        assert!(boot(2, &[1]).choose_major().unwrap_err().ends_with("the host speaks form 2"));
    }
}
