use serde_json::Value;

/// A part of a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Words.
    Text(String),
    /// Data; the model reads it as JSON.
    Json(Value),
    /// The id of an artifact that the plugin wrote before; the model is told of it.
    Artifact(String),
}

/// What a tool gives back: a text, JSON, several parts, or nothing after what it sent as output.
///
/// ```
/// use clawd_plugin::{Answer, Part};
/// let _: Answer = "a text".into();
/// let _: Answer = serde_json::json!({ "width": 640 }).into();
/// let _: Answer = vec![Part::Text("a picture:".into()), Part::Artifact("a1".into())].into();
/// let _: Answer = ().into();
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer(pub(crate) Vec<Part>);

impl From<()> for Answer {
    fn from((): ()) -> Self {
        Answer::default()
    }
}

impl From<&str> for Answer {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Part::Text(text).into()
    }
}

impl From<Value> for Answer {
    fn from(value: Value) -> Self {
        Part::Json(value).into()
    }
}

impl From<Part> for Answer {
    fn from(part: Part) -> Self {
        Answer(vec![part])
    }
}

impl From<Vec<Part>> for Answer {
    fn from(parts: Vec<Part>) -> Self {
        Answer(parts)
    }
}
