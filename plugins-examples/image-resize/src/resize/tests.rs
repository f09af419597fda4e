use super::*;
use image::RgbaImage;
use std::os::unix::fs::symlink;

/// A folder of its own, gone at the end.
struct Workspace(PathBuf);

impl Workspace {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("image-resize-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Workspace(folder)
    }

    fn with_picture(name: &str, width: u32, height: u32) -> Self {
        let workspace = Workspace::new(name);
        RgbaImage::from_fn(width, height, |x, y| image::Rgba([x as u8, y as u8, 7, 200]))
            .save(workspace.0.join("a.png"))
            .unwrap();
        workspace
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A PNG of a hundred bytes or so that says it has so many pixels.
fn bomb(width: u32, height: u32) -> Vec<u8> {
    let mut header = b"IHDR".to_vec();
    header.extend(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    header.extend([8, 6, 0, 0, 0]);
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0d".to_vec();
    png.extend(&header);
    png.extend(checksum(&header).to_be_bytes());
    png.extend(b"\0\0\0\x01IDAT\x78");
    png.extend(checksum(b"IDAT\x78").to_be_bytes());
    png
}

/// CRC-32, as PNG has it.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 })
    })
}

#[test]
fn proportions_stay_and_nothing_grows_or_vanishes() {
    assert_eq!(fit((400, 200), 100), (100, 50));
    assert_eq!(fit((200, 400), 100), (50, 100));
    assert_eq!(fit((80, 60), 100), (80, 60));
    assert_eq!(fit((10_000, 1), 100), (100, 1));
}

#[test]
fn a_picture_becomes_smaller_in_either_format() {
    let workspace = Workspace::with_picture("smaller", 64, 32);
    for to in ["b.png", "b.jpg"] {
        let made = resize(&workspace.0, "a.png", to, 16).unwrap();
        assert_eq!((made.was, made.is), ((64, 32), (16, 8)));
        assert_eq!(image::image_dimensions(workspace.0.join(to)).unwrap(), (16, 8));
    }
    let again = resize(&workspace.0, "b.jpg", "c.png", 4).unwrap();
    assert_eq!(again.is, (4, 2));
}

#[test]
fn a_bomb_is_refused_before_it_is_decoded() {
    let workspace = Workspace::new("bomb");
    for (width, height) in [(16_000, 16_000), (60_000, 60_000), (u32::MAX >> 1, 1)] {
        std::fs::write(workspace.0.join("bomb.png"), bomb(width, height)).unwrap();
        let failure = resize(&workspace.0, "bomb.png", "b.png", 100).unwrap_err();
        assert!(matches!(failure.code, Code::Exhausted | Code::Invalid), "{failure}");
    }
    std::fs::write(workspace.0.join("bomb.png"), bomb(8_000, 8_000)).unwrap();
    let failure = resize(&workspace.0, "bomb.png", "b.png", 100).unwrap_err();
    assert_eq!(failure.message, "bomb.png says that it has 8000 x 8000 pixels; 40000000 are allowed");
}

#[test]
fn what_is_no_picture_is_refused() {
    let workspace = Workspace::with_picture("none", 8, 8);
    std::fs::write(workspace.0.join("text.png"), "no picture").unwrap();
    let mut cut = std::fs::read(workspace.0.join("a.png")).unwrap();
    cut.truncate(cut.len() / 2);
    std::fs::write(workspace.0.join("cut.png"), cut).unwrap();
    for from in ["text.png", "cut.png"] {
        assert_eq!(resize(&workspace.0, from, "b.png", 4).unwrap_err().code, Code::Invalid);
    }
    assert_eq!(resize(&workspace.0, "missing.png", "b.png", 4).unwrap_err().code, Code::NotFound);
    assert_eq!(resize(&workspace.0, "a.png", "b.gif", 4).unwrap_err().code, Code::Invalid);
    assert_eq!(resize(&workspace.0, "a.png", "b.png", 0).unwrap_err().code, Code::Invalid);
}

#[test]
fn nothing_outside_the_workspace_is_touched_and_nothing_is_replaced() {
    let workspace = Workspace::with_picture("inside", 8, 8);
    symlink("/tmp", workspace.0.join("out")).unwrap();
    symlink("a.png", workspace.0.join("link.png")).unwrap();
    for path in ["../a.png", "/tmp/a.png", "out/a.png", "link.png", ""] {
        assert_eq!(resize(&workspace.0, path, "b.png", 4).unwrap_err().code, Code::Denied, "{path}");
    }
    for path in ["../b.png", "/tmp/b.png", "out/b.png"] {
        assert_eq!(resize(&workspace.0, "a.png", path, 4).unwrap_err().code, Code::Denied, "{path}");
    }
    assert_eq!(resize(&workspace.0, "a.png", "a.png", 4).unwrap_err().code, Code::Conflict);
}

#[test]
fn plugin_json_says_the_same() {
    let manifest = include_str!("../../plugin/plugin.json");
    crate::plugin().check_manifest(manifest).unwrap_or_else(|failure| panic!("{failure}"));
}
