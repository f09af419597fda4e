//! Between JSON as Rust has it and as the messages of clawd carry it.
use prost_types::value::Kind;
use serde_json::{Number, Value};

/// An object of JSON.
pub type Object = serde_json::Map<String, Value>;

/// Up to here every whole number has a `f64` of its own.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

pub(crate) fn object_of(wire: Option<prost_types::Struct>) -> Object {
    let fields = wire.unwrap_or_default().fields;
    fields.into_iter().map(|(name, value)| (name, value_of(value))).collect()
}

/// Nothing, of what is no object.
pub(crate) fn object_of_value(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}

pub(crate) fn value_of(wire: prost_types::Value) -> Value {
    match wire.kind {
        None | Some(Kind::NullValue(_)) => Value::Null,
        Some(Kind::BoolValue(value)) => Value::Bool(value),
        Some(Kind::NumberValue(value)) => number_of(value),
        Some(Kind::StringValue(value)) => Value::String(value),
        Some(Kind::StructValue(value)) => Value::Object(object_of(Some(value))),
        Some(Kind::ListValue(list)) => Value::Array(list.values.into_iter().map(value_of).collect()),
    }
}

/// The wire knows only `f64`; a whole number must fit an integer of the author's, all the same.
fn number_of(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() <= MAX_WHOLE {
        return Value::Number(Number::from(value as i64));
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

pub(crate) fn struct_from(object: Object) -> prost_types::Struct {
    prost_types::Struct { fields: object.into_iter().map(|(name, value)| (name, value_from(value))).collect() }
}

pub(crate) fn value_from(value: Value) -> prost_types::Value {
    let kind = match value {
        Value::Null => Kind::NullValue(0),
        Value::Bool(value) => Kind::BoolValue(value),
        Value::Number(value) => Kind::NumberValue(value.as_f64().unwrap_or_default()),
        Value::String(value) => Kind::StringValue(value),
        Value::Array(values) => {
            Kind::ListValue(prost_types::ListValue { values: values.into_iter().map(value_from).collect() })
        }
        Value::Object(object) => Kind::StructValue(struct_from(object)),
    };
    prost_types::Value { kind: Some(kind) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whatever_json_holds_comes_back_as_it_was() {
        let all = json!({"none": null, "yes": true, "whole": -3, "half": 0.5, "text": "żółć 🦀", "list": [1, [], {}]});
        assert_eq!(value_of(value_from(all.clone())), all);
    }

    #[test]
    fn whole_numbers_fit_integers_and_what_is_no_number_is_null() {
        assert_eq!(number_of(3.0), json!(3));
        assert_eq!(number_of(-0.0), json!(0));
        assert_eq!(number_of(1e300), json!(1e300));
        assert_eq!(number_of(f64::NAN), Value::Null);
    }
}
