use std::collections::HashMap;
use std::future::Future;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tokio::sync::Mutex;

use crate::answer::Answer;
use crate::context::{Call, Conversation};
use crate::failure::Result;
use crate::json::{object_of_value, struct_from, Object};
use crate::plugin::{command_of, Named, RunSlashCommand, Tool};
use crate::slash::WholeAnswer;
use crate::wire::v1;

/// A tool that a plugin offers while it runs, by [`Host::offer`](crate::Host::offer).
///
/// ```
/// use clawd_plugin::{Call, Object, OfferedTool};
/// use serde_json::json;
///
/// fn forecast(city: String) -> OfferedTool {
///     let about = format!("Tells the weather of {city}.");
///     OfferedTool::new(format!("forecast_{city}"), about, move |_: Call, _: Object| {
///         let city = city.clone();
///         async move { Ok(format!("sun in {city}")) }
///     })
/// }
/// ```
#[derive(Clone)]
pub struct OfferedTool {
    tool: Tool,
    schema: Option<Object>,
    time_limit: Duration,
    rerun_safe: bool,
}

impl OfferedTool {
    /// The same as [`Plugin::tool`](crate::Plugin::tool) takes.
    pub fn new<I, A, F, Fut>(name: impl Into<String>, description: impl Into<String>, run: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        A: Into<Answer>,
        F: Fn(Call, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A>> + Send + 'static,
    {
        let tool = Tool::new(name.into(), description.into(), run);
        OfferedTool { tool, schema: None, time_limit: Duration::ZERO, rerun_safe: false }
    }

    /// The same, with a JSON Schema of its arguments in the place of the one that their type makes: for one that is known only
    /// while the plugin runs, beside an [`Object`]. It must be of type object.
    pub fn with_schema(self, schema: Object) -> Self {
        OfferedTool { schema: Some(schema), ..self }
    }

    /// The same, with the most that one call takes; a minute where nothing is said.
    pub fn with_time_limit(self, time_limit: Duration) -> Self {
        OfferedTool { time_limit, ..self }
    }

    /// The same, when running it twice does no harm: it is then run again by itself after a crash.
    pub fn rerun_safe(self) -> Self {
        OfferedTool { rerun_safe: true, ..self }
    }

    fn declaration(&self) -> v1::ToolDeclaration {
        let schema = self.schema.clone().unwrap_or_else(|| object_of_value((self.tool.schema)()));
        v1::ToolDeclaration {
            name: self.tool.name.clone(),
            description: self.tool.description.clone(),
            input_schema: Some(struct_from(schema)),
            rerun_safe: self.rerun_safe,
            timeout_ms: u32::try_from(self.time_limit.as_millis()).unwrap_or(u32::MAX),
        }
    }
}

/// A slash command that a plugin offers while it runs, by [`Host::offer`](crate::Host::offer).
#[derive(Clone)]
pub struct OfferedCommand {
    command: Named<RunSlashCommand>,
    description: String,
    arguments: Vec<v1::SlashCommandArgument>,
}

impl OfferedCommand {
    /// The same as [`Plugin::slash_command`](crate::Plugin::slash_command) takes, and what it does, for people.
    pub fn new<A, F, Fut>(name: impl Into<String>, description: impl Into<String>, run: F) -> Self
    where
        A: Into<WholeAnswer>,
        F: Fn(Conversation, String) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A>> + Send + 'static,
    {
        let command = command_of(name.into(), run);
        OfferedCommand { command, description: description.into(), arguments: Vec::new() }
    }

    /// The same, with one thing more that programs fill in by name: 1 to 64 characters without spaces. It comes as
    /// [`Conversation::named`].
    pub fn with_argument(mut self, name: impl Into<String>, description: impl Into<String>, required: bool) -> Self {
        let (name, description) = (name.into(), description.into());
        self.arguments.push(v1::SlashCommandArgument { name, description, required });
        self
    }

    fn declaration(&self) -> v1::SlashCommandDeclaration {
        let (name, description) = (self.command.name.clone(), self.description.clone());
        v1::SlashCommandDeclaration { name, description, arguments: self.arguments.clone() }
    }
}

/// What became of an offer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Offered {
    /// By which names models know the tools, in their order; empty for one that cannot be offered.
    pub names: Vec<String>,
    /// Why some cannot.
    pub problems: Vec<String>,
}

/// What was offered in this life, by its names.
#[derive(Default)]
pub(crate) struct LiveOffers {
    served: RwLock<OfferedNames>,
    /// What the host took last; one offer after the other goes to it.
    taken: Mutex<OfferedNames>,
}

#[derive(Clone, Default)]
struct OfferedNames {
    tools: HashMap<String, Tool>,
    commands: HashMap<String, Named<RunSlashCommand>>,
}

impl LiveOffers {
    pub(crate) fn tool(&self, name: &str) -> Option<Tool> {
        self.served.read().unwrap_or_else(PoisonError::into_inner).tools.get(name).cloned()
    }

    pub(crate) fn command(&self, name: &str) -> Option<Named<RunSlashCommand>> {
        self.served.read().unwrap_or_else(PoisonError::into_inner).commands.get(name).cloned()
    }

    /// Tells the host of an offer. When that fails, those before and these are served, so that none is missing whatever the
    /// host has heard.
    pub(crate) async fn replace<Fut>(
        &self,
        tools: Vec<OfferedTool>,
        commands: Vec<OfferedCommand>,
        tell: impl FnOnce(v1::OfferRequest) -> Fut,
    ) -> Result<Offered>
    where
        Fut: Future<Output = Result<v1::OfferResponse>>,
    {
        let request = v1::OfferRequest {
            tools: tools.iter().map(OfferedTool::declaration).collect(),
            slash_commands: commands.iter().map(OfferedCommand::declaration).collect(),
        };
        let now = OfferedNames {
            tools: tools.into_iter().map(|one| (one.tool.name.clone(), one.tool)).collect(),
            commands: commands.into_iter().map(|one| (one.command.name.clone(), one.command)).collect(),
        };
        let mut taken = self.taken.lock().await;
        // The host may call a new one before its answer is here, and an old one until then.
        let mut both = taken.clone();
        both.tools.extend(now.tools.clone());
        both.commands.extend(now.commands.clone());
        self.serve(both);
        let v1::OfferResponse { names, problems } = tell(request).await?;
        self.serve(now.clone());
        *taken = now;
        Ok(Offered { names, problems })
    }

    fn serve(&self, names: OfferedNames) {
        *self.served.write().unwrap_or_else(PoisonError::into_inner) = names;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::{Code, Failure};
    use serde_json::{json, Value};

    fn tools(names: &[&str]) -> Vec<OfferedTool> {
        let one = |name: &&str| OfferedTool::new(*name, "Acts.", |_: Call, _: Object| async { Ok(()) });
        names.iter().map(one).collect()
    }

    fn served(offers: &LiveOffers) -> Vec<&'static str> {
        ["a", "b", "c"].into_iter().filter(|name| offers.tool(name).is_some()).collect()
    }

    #[tokio::test]
    async fn an_offer_takes_the_place_of_the_last_one_and_none_is_missing_while_the_host_hears_of_it() {
        let offers = LiveOffers::default();
        let taken = |request: v1::OfferRequest| {
            let names = request.tools.into_iter().map(|tool| format!("plugin_p_{}", tool.name)).collect();
            std::future::ready(Ok(v1::OfferResponse { names, problems: Vec::new() }))
        };
        let said = offers.replace(tools(&["a", "b"]), Vec::new(), taken).await.unwrap();
        assert_eq!(said.names, ["plugin_p_a", "plugin_p_b"]);
        let while_told = |request| {
            assert_eq!(served(&offers), ["a", "b", "c"]);
            taken(request)
        };
        offers.replace(tools(&["b", "c"]), Vec::new(), while_told).await.unwrap();
        assert_eq!(served(&offers), ["b", "c"]);
    }

    #[tokio::test]
    async fn what_the_host_did_not_take_may_still_have_been_heard() {
        let offers = LiveOffers::default();
        let refused = |_| std::future::ready(Err(Failure::new(Code::TimedOut, "no answer")));
        assert!(offers.replace(tools(&["a"]), Vec::new(), refused).await.is_err());
        assert!(offers.replace(tools(&["b"]), Vec::new(), refused).await.is_err());
        assert_eq!(served(&offers), ["b"]);
    }

    #[test]
    fn a_schema_that_is_known_late_takes_the_place_of_the_one_of_the_type() {
        let Value::Object(schema) = json!({ "type": "object", "required": ["x"] }) else { unreachable!() };
        let [tool] = &tools(&["a"])[..] else { unreachable!() };
        let declared = tool.clone().with_schema(schema.clone()).with_time_limit(Duration::from_secs(2)).declaration();
        assert_eq!(declared.input_schema, Some(struct_from(schema)));
        assert_eq!(declared.timeout_ms, 2_000);
        let of_type = tool.declaration().input_schema.unwrap();
        assert_eq!(of_type.fields["type"], crate::json::value_from(json!("object")));
    }
}
