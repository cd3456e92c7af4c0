//! Compares JSON with a schema: as much of JSON Schema as `docs/report.schema.json` uses. A key that the schema does not
//! name is an error too, because all that Branchwise writes is described there.

use serde_json::Value as Json;

/// Keywords that only people read.
const NOTES: [&str; 6] = ["$schema", "$defs", "title", "description", "format", "default"];

/// Returns all places where a value is not what the schema demands.
pub fn errors(schema: &Json, value: &Json) -> Vec<String> {
    let mut checker = Checker { root: schema, errors: Vec::new() };
    checker.check(schema, value, "");
    checker.errors
}

struct Checker<'a> {
    root: &'a Json,
    errors: Vec<String>,
}

impl Checker<'_> {
    fn check(&mut self, schema: &Json, value: &Json, place: &str) {
        if *schema == Json::Bool(true) {
            return;
        }
        for (keyword, demand) in schema.as_object().expect("a schema is an object or true") {
            if !self.holds(schema, keyword, demand, value, place) {
                self.errors.push(format!("{place}: {keyword} demands {demand}, not {value:.80}"));
            }
        }
    }

    fn holds(&mut self, schema: &Json, keyword: &str, demand: &Json, value: &Json, place: &str) -> bool {
        match keyword {
            note if NOTES.contains(&note) => {}
            "type" => return is_of_type(demand, value),
            "const" => return demand == value,
            "enum" => return list(demand).contains(value),
            "minimum" => return value.as_f64().is_none_or(|value| Some(value) >= demand.as_f64()),
            "minItems" => return value.as_array().is_none_or(|items| Some(items.len() as u64) >= demand.as_u64()),
            "maxItems" => return value.as_array().is_none_or(|items| Some(items.len() as u64) <= demand.as_u64()),
            "required" => return list(demand).iter().all(|key| value.get(key.as_str().unwrap_or_default()).is_some()),
            "anyOf" | "oneOf" => return self.fits_one(list(demand), value),
            "$ref" => self.check(
                &self.root.pointer(&demand.as_str().unwrap_or_default()[1..]).expect("defined").clone(),
                value,
                place,
            ),
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    self.check(demand, item, &format!("{place}/{index}"));
                }
            }
            "properties" => self.check_properties(schema, demand, value, place),
            "additionalProperties" => {}
            other => panic!("{place}: this checker does not know {other}"),
        }
        true
    }

    fn fits_one(&self, schemas: &[Json], value: &Json) -> bool {
        let fits = |schema: &&Json| {
            let mut alone = Checker { root: self.root, errors: Vec::new() };
            alone.check(schema, value, "");
            alone.errors.is_empty()
        };
        schemas.iter().any(|schema| fits(&schema))
    }

    fn check_properties(&mut self, schema: &Json, properties: &Json, value: &Json, place: &str) {
        for (key, entry) in value.as_object().into_iter().flatten() {
            match properties.get(key).or(schema.get("additionalProperties")) {
                Some(property) => self.check(property, entry, &format!("{place}/{key}")),
                None => self.errors.push(format!("{place}: nobody described {key}")),
            }
        }
    }
}

fn list(demand: &Json) -> &[Json] {
    demand.as_array().map_or(&[], Vec::as_slice)
}

fn is_of_type(demand: &Json, value: &Json) -> bool {
    let is = |name: &Json| match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    };
    if demand.is_array() { list(demand).iter().any(is) } else { is(demand) }
}
