//! What generate.sh made of the protos.
#![allow(dead_code, missing_docs, clippy::all, clippy::pedantic)]

#[path = "wire/grpc.health.v1.rs"]
pub(crate) mod health;
#[path = "wire/clawd.plugin.v1.rs"]
pub(crate) mod v1;
#[path = "wire/clawd.plugin.v2.rs"]
pub(crate) mod v2;
