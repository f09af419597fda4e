use schemars::generate::SchemaSettings;
use schemars::JsonSchema;
use serde_json::{json, Value};

use crate::failure::{Code, Failure, Result};
use crate::plugin::{Named, Plugin};

/// What plugin.json says of the arguments of a tool whose input is an `I`.
pub(crate) fn schema_of<I: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<I>().to_value();
    if let Some(schema) = schema.as_object_mut() {
        // The name of a Rust type says nothing to a model.
        schema.remove("title");
    }
    schema
}

impl Plugin {
    /// Compares the plugin with the text of its plugin.json: name, version, tools with their descriptions and schemas, hooks
    /// and everything else that it brings. Fails with all differences, each with what plugin.json would have to say. To be
    /// called by a test, so that the two never drift apart:
    ///
    /// ```
    /// # use clawd_plugin::Plugin;
    /// # fn plugin() -> Plugin { Plugin::new("hello", "1.0.0") }
    /// # let text = r#"{ "name": "hello", "version": "1.0.0" }"#;
    /// // let text = include_str!("../plugin/plugin.json");
    /// plugin().check_manifest(text).unwrap_or_else(|failure| panic!("{failure}"));
    /// assert!(plugin().check_manifest("{}").unwrap_err().message.contains(r#""name": "hello""#));
    /// ```
    pub fn check_manifest(&self, text: &str) -> Result<()> {
        let manifest: Value = serde_json::from_str(text)?;
        let mut wrong = Vec::new();
        let mut expect = |key: &str, found: Value, expected: Value| {
            // Nothing and an empty list are the same.
            let found = if found.is_null() { json!([]) } else { found };
            if found != expected {
                wrong.push(format!("\"{key}\": {expected:#}"));
            }
        };
        expect("name", manifest["name"].clone(), json!(self.name));
        expect("version", manifest["version"].clone(), json!(self.version));
        expect("tools", only(&manifest["tools"], &["name", "description", "inputSchema"]), self.declared_tools());
        expect("hooks", only(&manifest["hooks"], &["at"]), declared("at", &self.hooks));
        expect("modelProviders", only(&manifest["modelProviders"], &["name"]), declared("name", &self.models));
        expect("embedders", only(&manifest["embedders"], &["id"]), declared("id", &self.embedders));
        expect("memorySources", only(&manifest["memorySources"], &["name"]), declared("name", &self.memory_sources));
        expect("slashCommands", only(&manifest["slashCommands"], &["name"]), declared("name", &self.slash_commands));
        if wrong.is_empty() {
            return Ok(());
        }
        let message = format!("plugin.json says something else than the program, which needs:\n{}", wrong.join(",\n"));
        Err(Failure::new(Code::Conflict, message))
    }

    fn declared_tools(&self) -> Value {
        let tools = self
            .tools
            .iter()
            .map(|tool| json!({ "name": tool.name, "description": tool.description, "inputSchema": (tool.schema)() }));
        tools.collect()
    }
}

fn declared<Run: ?Sized>(key: &str, all: &[Named<Run>]) -> Value {
    all.iter().map(|one| json!({ key: one.name })).collect()
}

/// A list of objects with some of their fields.
fn only(list: &Value, keys: &[&str]) -> Value {
    let Some(list) = list.as_array() else { return list.clone() };
    let kept = |one: &Value| -> Value { keys.iter().map(|key| ((*key).to_owned(), one[*key].clone())).collect() };
    list.iter().map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, Conversation, Event, Verdict};
    use serde::Deserialize;

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Input {
        /// How many
        count: u32,
        unit: Option<Unit>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[allow(dead_code)]
    enum Unit {
        Pixel,
        Percent,
    }

    fn plugin() -> Plugin {
        Plugin::new("p", "1.0.0")
            .tool("act", "Acts.", |_: Call, _: Input| async move { Ok(()) })
            .hook("tool.before", |_: Conversation, _: Event| async move { Ok(Verdict::Pass) })
    }

    #[test]
    fn a_manifest_that_says_the_same_is_fine_whatever_else_it_says() {
        let manifest = json!({
            "manifestVersion": 1, "name": "p", "version": "1.0.0", "embedders": [],
            "tools": [{ "name": "act", "description": "Acts.", "rerunSafe": true, "inputSchema": schema_of::<Input>() }],
            "hooks": [{ "at": "tool.before", "priority": 3 }],
        });
        plugin().check_manifest(&manifest.to_string()).unwrap();
    }

    #[test]
    fn every_difference_is_told_with_what_is_expected() {
        let manifest = json!({ "name": "p", "version": "1.0.1", "slashCommands": [{ "name": "x" }] });
        let told = plugin().check_manifest(&manifest.to_string()).unwrap_err().message;
        for part in
            ["\"version\": \"1.0.0\"", "\"tools\": [", "\"minimum\": 0", "\"hooks\": [", "\"slashCommands\": []"]
        {
            assert!(told.contains(part), "{part} in {told}");
        }
        assert!(!told.contains("\"name\": \"p\""));
    }

    #[test]
    fn a_schema_describes_fields_by_their_comments_and_has_no_name() {
        let schema = schema_of::<Input>();
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["properties"]["count"]["description"], "How many");
        assert_eq!(schema["required"], json!(["count"]));
        assert_eq!(schema.get("title"), None);
        assert_eq!(schema.get("$defs"), None);
    }
}
