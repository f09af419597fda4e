//! What does the work, so that it can be tested without clawd.
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Cursor, ErrorKind, Write};
use std::path::{Component, Path, PathBuf};

use clawd_plugin::{Code, Failure, Result};
use image::imageops::FilterType;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

/// A picture may have so many pixels. A small file can claim any number of them; this is looked at before any is decoded.
const MAX_PIXELS: u64 = 40_000_000;
/// What decoding may take beside: sixteen bits in four channels each.
const MAX_DECODING_BYTES: u64 = MAX_PIXELS * 8;
/// No side of a picture may be longer, either way.
const MAX_SIDE: u32 = 16_384;

/// What became of a picture.
#[derive(Debug, PartialEq)]
pub struct Made {
    to: String,
    was: (u32, u32),
    is: (u32, u32),
    bytes: usize,
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Made { to, was, is, bytes } = self;
        write!(f, "wrote {to}: {} x {} pixels instead of {} x {}, {bytes} bytes", is.0, is.1, was.0, was.1)
    }
}

/// Writes a copy of the picture `from` to the new file `to`, with neither side longer than `longest_side` pixels. One that is
/// small enough keeps its size. Both are paths in the workspace.
pub fn resize(workspace: &Path, from: &str, to: &str, longest_side: u32) -> Result<Made> {
    if !(1..=MAX_SIDE).contains(&longest_side) {
        let message = format!("longest_side is {longest_side}; it must be from 1 to {MAX_SIDE}");
        return Err(Failure::new(Code::Invalid, message));
    }
    let format = match ImageFormat::from_path(to) {
        Ok(format @ (ImageFormat::Png | ImageFormat::Jpeg)) => format,
        _ => return Err(Failure::new(Code::Invalid, format!("{to} must end in .png, .jpg or .jpeg"))),
    };
    let picture = read(&inside(workspace, from)?, from)?;
    let was = (picture.width(), picture.height());
    let is = fit(was, longest_side);
    let smaller = if is == was { picture } else { picture.resize_exact(is.0, is.1, FilterType::CatmullRom) };
    let bytes = encode(&smaller, format)?;
    write_new(&inside(workspace, to)?, to, &bytes)?;
    Ok(Made { to: to.to_owned(), was, is, bytes: bytes.len() })
}

/// A path of the workspace and of nothing else. What the plugin may really touch is a matter of its grant: this is so that a
/// model does not touch by mistake what the grant would allow.
fn inside(workspace: &Path, path: &str) -> Result<PathBuf> {
    let stays = Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let outside =
        || Failure::new(Code::Denied, format!("{path} is not in the workspace")).with_hint("name a path in it");
    if !stays || path.is_empty() {
        return Err(outside());
    }
    let whole = workspace.join(path);
    // Links count by where they lead.
    let folder = whole.parent().unwrap_or(workspace);
    let really = folder.canonicalize().map_err(|error| not_there(path, error))?;
    let workspace = workspace.canonicalize().map_err(|error| not_there("the workspace", error))?;
    if really.starts_with(&workspace) && !whole.is_symlink() {
        return Ok(whole);
    }
    Err(outside())
}

fn not_there(path: &str, error: std::io::Error) -> Failure {
    let hint = "the plugin sees only what it was granted: its plugin.json must name this folder";
    Failure::new(Code::NotFound, format!("{path} cannot be opened: {error}")).with_hint(hint)
}

fn read(file: &Path, path: &str) -> Result<DynamicImage> {
    let opened = File::open(file).map_err(|error| not_there(path, error))?;
    let mut reader = ImageReader::new(BufReader::new(opened)).with_guessed_format()?;
    let mut limits = Limits::default();
    (limits.max_image_width, limits.max_image_height) = (Some(MAX_SIDE), Some(MAX_SIDE));
    limits.max_alloc = Some(MAX_DECODING_BYTES);
    reader.limits(limits);
    let unreadable = |error| Failure::new(Code::Invalid, format!("{path} is no picture that can be read: {error}"));
    // This reads no more than the head of the file.
    let decoder = reader.into_decoder().map_err(unreadable)?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        let message = format!("{path} says that it has {width} x {height} pixels; {MAX_PIXELS} are allowed");
        return Err(Failure::new(Code::Exhausted, message));
    }
    DynamicImage::from_decoder(decoder).map_err(unreadable)
}

/// The largest size of the same proportions with no side over `longest_side`; never larger than before, and never nothing.
fn fit((width, height): (u32, u32), longest_side: u32) -> (u32, u32) {
    let longest = width.max(height);
    if longest <= longest_side {
        return (width, height);
    }
    let scaled = |side: u32| {
        let exact = u64::from(side) * u64::from(longest_side);
        // Rounded; no longer than a u32, since it is no longer than `longest_side`.
        ((exact + u64::from(longest) / 2) / u64::from(longest)).max(1) as u32
    };
    (scaled(width), scaled(height))
}

fn encode(picture: &DynamicImage, format: ImageFormat) -> Result<Vec<u8>> {
    let mut bytes = Cursor::new(Vec::new());
    match format {
        // It knows nothing of transparency.
        ImageFormat::Jpeg => picture.to_rgb8().write_to(&mut bytes, format)?,
        _ => picture.write_to(&mut bytes, format)?,
    }
    Ok(bytes.into_inner())
}

fn write_new(file: &Path, path: &str, bytes: &[u8]) -> Result<()> {
    let opened = OpenOptions::new().write(true).create_new(true).open(file);
    let written = opened.and_then(|mut to| to.write_all(bytes));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::new(Code::Conflict, format!("{path} is there already")).with_hint("name another")
        }
        _ => Failure::new(Code::Unavailable, format!("{path} cannot be written: {error}")),
    })
}

#[cfg(test)]
mod tests;
