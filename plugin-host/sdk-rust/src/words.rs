use crate::failure::{Code, Failure, Result};
use crate::model::{Message, ModelPart};
use crate::wire::v1;

/// What the model of a conversation is asked, by [`Conversation::generate`](crate::Conversation::generate).
///
/// ```
/// use clawd_plugin::Prompt;
/// let prompt = Prompt::new("What is this about? …", 200).with_system("Answer in one line.");
/// assert_eq!(prompt.max_tokens, 200);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// Instructions; may be empty.
    pub system: String,
    /// 1 to 256 of texts, the last by the user; 256 KiB in all.
    pub messages: Vec<Message>,
    /// The most that it may answer; fewer when less is left of the budget.
    pub max_tokens: u32,
}

impl Prompt {
    /// A question of one text.
    pub fn new(question: impl Into<String>, max_tokens: u32) -> Self {
        let parts = vec![ModelPart::Text(question.into())];
        Prompt::of(vec![Message { role: "user".to_owned(), parts }], max_tokens)
    }

    /// Several messages, by "user" and "assistant".
    pub fn of(messages: Vec<Message>, max_tokens: u32) -> Self {
        Prompt { system: String::new(), messages, max_tokens }
    }

    /// The same, with instructions.
    pub fn with_system(self, system: impl Into<String>) -> Self {
        Prompt { system: system.into(), ..self }
    }

    pub(crate) fn into_request(self, call_id: String) -> Result<v1::HostServiceGenerateRequest> {
        let messages = self.messages.into_iter().map(message_of).collect::<Result<_>>()?;
        Ok(v1::HostServiceGenerateRequest { call_id, system: self.system, messages, max_tokens: self.max_tokens })
    }
}

fn message_of(Message { role, parts }: Message) -> Result<v1::GenerateMessage> {
    let texts = parts.into_iter().map(|part| match part {
        ModelPart::Text(text) => Ok(v1::GeneratePart { kind: Some(v1::generate_part::Kind::Text(text)) }),
        _ => Err(Failure::new(Code::Invalid, "a model of a conversation is asked with texts, and nothing else")),
    });
    Ok(v1::GenerateMessage { role, parts: texts.collect::<Result<_>>()? })
}

/// What the model answered, and what that took of the budget of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Words {
    /// The words.
    pub text: String,
    /// `done`, `length` or `refused`.
    pub stop: String,
    /// `PROVIDER/NAME`.
    pub model: String,
    /// For prompt and answer.
    pub tokens: u32,
    /// What is left until the day ends, by UTC.
    pub tokens_left: u32,
}

impl From<v1::HostServiceGenerateResponse> for Words {
    fn from(said: v1::HostServiceGenerateResponse) -> Self {
        let v1::HostServiceGenerateResponse { text, stop, model, tokens, tokens_left } = said;
        Words { text, stop, model, tokens, tokens_left }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_says_who_said_what_and_how_long_the_answer_may_be() {
        let said = Prompt::new("why?", 7).with_system("short").into_request("c1".to_owned()).unwrap();
        assert_eq!((said.call_id.as_str(), said.system.as_str(), said.max_tokens), ("c1", "short", 7));
        let kind = Some(v1::generate_part::Kind::Text("why?".to_owned()));
        assert_eq!((said.messages[0].role.as_str(), &said.messages[0].parts[0].kind), ("user", &kind));
    }

    #[test]
    fn what_is_no_text_is_not_asked() {
        let thinking = vec![ModelPart::Thinking("hm".to_owned())];
        let prompt = Prompt::of(vec![Message { role: "user".to_owned(), parts: thinking }], 7);
        assert_eq!(prompt.into_request(String::new()).unwrap_err().code, Code::Invalid);
    }
}
