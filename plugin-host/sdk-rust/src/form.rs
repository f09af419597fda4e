use schemars::JsonSchema;
use serde_json::{json, Value};

use crate::json::{object_of_value, Object};
use crate::manifest::schema_of;

/// A person's word to a question with fields to fill in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Form<F> {
    /// True for a yes. Nobody there means no.
    pub yes: bool,
    /// False when nobody was there or answered in time.
    pub answered: bool,
    /// What was filled in, with a yes.
    pub filled: Option<F>,
}

/// The flat schema that a host asks with.
pub(crate) fn form_schema<F: JsonSchema>() -> Object {
    let mut schema = object_of_value(schema_of::<F>());
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().for_each(make_fillable);
    }
    schema
}

/// A field has one type: that it may be left out is said by what is required.
fn make_fillable(field: &mut Value) {
    if let Some(one) = field.get("anyOf").and_then(|kinds| only_not_null(kinds, &json!({ "type": "null" }))) {
        *field = one;
    }
    let Some(field) = field.as_object_mut() else { return };
    if let Some(one) = field.get("type").and_then(|kinds| only_not_null(kinds, &json!("null"))) {
        field.insert("type".to_owned(), one);
    }
    if let Some(Value::Array(choices)) = field.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    if !field.contains_key("type") && (field.contains_key("enum") || field.contains_key("oneOf")) {
        field.insert("type".to_owned(), json!("string"));
    }
}

fn only_not_null(kinds: &Value, null: &Value) -> Option<Value> {
    let rest: Vec<&Value> = kinds.as_array()?.iter().filter(|kind| *kind != null).collect();
    match rest[..] {
        [one] => Some(one.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Order {
        /// Who it is for
        name: String,
        age: Option<u32>,
        size: Option<Size>,
        color: Color,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    enum Size {
        Small,
        Large,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    enum Color {
        /// As the sky
        Blue,
        /// As grass
        Green,
    }

    #[test]
    fn every_field_is_one_that_a_person_can_fill_in() {
        let schema = form_schema::<Order>();
        let fields = &schema["properties"];
        assert_eq!(fields["name"], json!({ "type": "string", "description": "Who it is for" }));
        assert_eq!(fields["age"]["type"], "integer");
        assert_eq!(fields["size"], json!({ "type": "string", "enum": ["Small", "Large"] }));
        assert_eq!(
            (&fields["color"]["type"], &fields["color"]["oneOf"][0]["const"]),
            (&json!("string"), &json!("Blue"))
        );
        assert_eq!(schema["required"], json!(["name", "color"]));
    }
}
