use std::fmt;

/// What a tool, a hook and everything else of a plugin gives: a value, or a [`Failure`].
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Of what kind a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Code {
    /// What was asked makes no sense, or anything without a kind of its own.
    Invalid,
    /// What was named is not there.
    NotFound,
    /// Something else is in the way.
    Conflict,
    /// It is not allowed.
    Denied,
    /// It took too long.
    TimedOut,
    /// A limit is reached.
    Exhausted,
    /// It may work later. Of a model: asking again may help.
    Unavailable,
}

impl Code {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Code::Invalid => "invalid",
            Code::NotFound => "not_found",
            Code::Conflict => "conflict",
            Code::Denied => "denied",
            Code::TimedOut => "timed_out",
            Code::Exhausted => "exhausted",
            Code::Unavailable => "unavailable",
        }
    }
}

/// Why there is no result: what happened, to what, and, in `hint`, the next move. The model or the person reads it.
///
/// Every error becomes one of the code [`Code::Invalid`] by `?`, with the errors behind it in its message:
///
/// ```
/// fn number(text: &str) -> clawd_plugin::Result<u32> {
///     Ok(text.parse()?)
/// }
/// assert_eq!(number("x").unwrap_err().message, "invalid digit found in string");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// Of what kind it is.
    pub code: Code,
    /// What happened, to what.
    pub message: String,
    /// The next move; may be empty.
    pub hint: String,
    /// The code in finer words, for programs; empty for none.
    pub category: String,
    /// Whether the same may succeed later; of a tool it says something only beside a category.
    pub retryable: bool,
}

impl Failure {
    /// A failure of a kind, without a hint.
    ///
    /// ```
    /// use clawd_plugin::{Code, Failure};
    /// let failure = Failure::new(Code::NotFound, "there is no page 7").with_hint("ask for another");
    /// assert_eq!(failure.to_string(), "there is no page 7 (ask for another)");
    /// ```
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let (hint, category) = (String::new(), String::new());
        Failure { code, message: message.into(), hint, category, retryable: false }
    }

    /// The same, with the next move.
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Failure { hint: hint.into(), ..self }
    }

    /// The same, in finer words for programs, e.g. `rate_limited`, and whether the same may succeed later.
    pub fn with_category(self, category: impl Into<String>, retryable: bool) -> Self {
        Failure { category: category.into(), retryable, ..self }
    }

    /// What the host refused, in its words.
    pub(crate) fn of_host(status: tonic::Status) -> Self {
        let code = match status.code() {
            tonic::Code::NotFound => Code::NotFound,
            tonic::Code::AlreadyExists | tonic::Code::FailedPrecondition | tonic::Code::Aborted => Code::Conflict,
            tonic::Code::PermissionDenied | tonic::Code::Unauthenticated => Code::Denied,
            tonic::Code::DeadlineExceeded => Code::TimedOut,
            tonic::Code::ResourceExhausted | tonic::Code::OutOfRange => Code::Exhausted,
            tonic::Code::Unavailable | tonic::Code::Cancelled => Code::Unavailable,
            _ => Code::Invalid,
        };
        Failure::new(code, status.message())
    }

    /// Whatever panicked.
    pub(crate) fn of_panic(what: &str, error: tokio::task::JoinError) -> Self {
        let Ok(panic) = error.try_into_panic() else {
            return Failure::new(Code::Unavailable, format!("{what} was stopped"));
        };
        let words = panic.downcast_ref::<&str>().map(ToString::to_string);
        match words.or_else(|| panic.downcast_ref::<String>().cloned()) {
            Some(words) => Failure::new(Code::Invalid, format!("{what} panicked: {words}")),
            None => Failure::new(Code::Invalid, format!("{what} panicked")),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.message)?;
        if self.hint.is_empty() {
            Ok(())
        } else {
            write!(to, " ({})", self.hint)
        }
    }
}

// Like every type that takes all errors by `?`, it can be none itself.
impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message.push_str(": ");
            message.push_str(&cause.to_string());
            source = cause.source();
        }
        Failure::new(Code::Invalid, message)
    }
}
