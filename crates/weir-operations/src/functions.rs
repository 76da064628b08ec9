//! `weir schema`: prints the tools as function declarations, in the form that each provider's API takes.
//!
//! All forms come from the one schema of an operation's arguments. The program that gets a function call from a
//! model passes name and arguments on to `weir mcp`, which also understands nulls for arguments that are left out.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value, json};
use weir_context::Context;
use weir_host::answer::Answer;
use weir_host::config::ListedTools;
use weir_host::error::CommandError;

use crate::needs::Needs;
use crate::tool_call;
use crate::{OPERATIONS, Operation};

/// The form of one provider.
struct Form {
    name: &'static str,
    /// What takes it.
    about: &'static str,
    /// The whole document, from the tools.
    document: fn(&[Function]) -> Value,
}

/// A tool as a function: its name, what it does, and the schema of its arguments.
struct Function {
    name: &'static str,
    description: String,
    parameters: Map<String, Value>,
    needs: Needs,
    /// Makes the schema of the answer, which only one form has.
    answer: fn() -> Value,
}

const FORMS: &[Form] = &[
    Form {
        name: "anthropic",
        about: "`tools` of Anthropic's Messages API",
        document: |functions| {
            each(functions, |function| {
                json!({
                    "name": function.name, "description": function.description, "input_schema": function.parameters,
                })
            })
        },
    },
    Form {
        name: "gemini",
        about: "`tools` of Gemini's generateContent",
        document: |functions| {
            let declarations = each(functions, |function| {
                json!({
                    "name": function.name, "description": function.description,
                    "parametersJsonSchema": function.parameters,
                })
            });
            json!([{ "functionDeclarations": declarations }])
        },
    },
    Form {
        name: "mcp",
        about: "`tools` of an MCP server's tools/list",
        document: |functions| {
            each(functions, |function| {
                json!({
                    "name": function.name, "description": function.description, "inputSchema": function.parameters,
                })
            })
        },
    },
    Form {
        name: "openai-chat",
        about: "`tools` of OpenAI's Chat Completions, strict",
        document: |functions| {
            each(functions, |function| {
                json!({ "type": "function", "function": {
                    "name": function.name, "description": function.description,
                    "parameters": strict(&function.parameters), "strict": true,
                } })
            })
        },
    },
    Form {
        name: "openai-responses",
        about: "`tools` of OpenAI's Responses, strict",
        document: |functions| {
            each(functions, |function| {
                json!({
                    "type": "function", "name": function.name, "description": function.description,
                    "parameters": strict(&function.parameters), "strict": true,
                })
            })
        },
    },
    Form { name: "openapi", about: "`components` of an OpenAPI 3.1 document", document: openapi },
];

pub fn command() -> Command {
    let forms = FORMS.iter().map(|form| format!("  {:<18}{}", form.name, form.about)).collect::<Vec<_>>().join("\n");
    Command::new("schema")
        .about("Print the tools as function declarations for a provider's API")
        .after_long_help(format!(
            "Forms:\n{forms}\n\nExamples:\n  weir schema openai-chat > tools.json\n  weir schema anthropic --all\n  \
             weir schema gemini --tool ctx_search --tool ctx_get"
        ))
        .args([
            Arg::new("form")
                .value_name("FORM")
                .required(true)
                .value_parser(FormName)
                .hide_possible_values(true)
                .help("Form to print, one of those below"),
            Arg::new("all")
                .long("all")
                .action(ArgAction::SetTrue)
                .help("Print every tool, not only those that are listed"),
            Arg::new("tool")
                .long("tool")
                .value_name("NAME")
                .action(ArgAction::Append)
                .value_parser(PossibleValuesParser::new(OPERATIONS.iter().map(|operation| operation.tool)))
                .hide_possible_values(true)
                .conflicts_with("all")
                .help("Print only this tool; can be repeated"),
        ])
}

/// Parses the name of a form. A beginning, such as `openai`, is no name; the error suggests the first that has it.
#[derive(Clone)]
struct FormName;

impl TypedValueParser for FormName {
    type Value = String;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        let known = PossibleValuesParser::new(FORMS.iter().map(|form| form.name));
        known.parse_ref(command, argument, value).map_err(|mut error| {
            let named = value.to_str().filter(|value| !value.is_empty());
            let meant = named.and_then(|value| FORMS.iter().find(|form| form.name.starts_with(value)));
            if let Some(form) = meant {
                error.insert(ContextKind::SuggestedValue, ContextValue::String(form.name.to_owned()));
            }
            error
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(FORMS.iter().map(|form| PossibleValue::new(form.name))))
    }
}

pub fn run(context: &Context, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let name = arguments.get_one::<String>("form").map(String::as_str).unwrap_or_default();
    let form = FORMS.iter().find(|form| form.name == name);
    let form = form.ok_or_else(|| CommandError::usage(format!("unknown form `{name}`")))?;
    let named: Vec<String> = arguments.get_many("tool").into_iter().flatten().cloned().collect();
    let listed = match (arguments.get_flag("all"), named.is_empty()) {
        (true, _) => ListedTools::All,
        (false, true) => context.config().tools.list.clone(),
        (false, false) => ListedTools::Named(named),
    };
    let functions: Vec<Function> = tool_call::listed(&listed).map(function).collect();
    let document = (form.document)(&functions);
    let text = serde_json::to_string_pretty(&document).map_err(|error| CommandError::broken(&error.to_string()))?;
    Ok(Answer::new(text, document))
}

fn function(operation: &Operation) -> Function {
    let (description, parameters) = (operation.schema)();
    let (needs, answer) = (operation.needs(), operation.answer_schema);
    Function { name: operation.tool, description, parameters, needs, answer }
}

/// Returns the arguments and the answer of operations as schemas of an OpenAPI document.
pub fn schemas(operations: impl Iterator<Item = &'static Operation>) -> Map<String, Value> {
    let functions: Vec<Function> = operations.map(function).collect();
    functions.iter().flat_map(schemas_of).collect()
}

/// Returns the arguments and the answer of each tool as schemas, and the answer as a response. `x-needs` says whether a
/// server could offer the tool, or only the machine of the project.
fn openapi(functions: &[Function]) -> Value {
    let response = |function: &Function| {
        let reference = format!("#/components/schemas/{}", answer_name(function));
        let content = json!({ "application/json": { "schema": { "$ref": reference } } });
        (function.name.to_owned(), json!({ "description": function.description, "content": content }))
    };
    let schemas: Map<String, Value> = functions.iter().flat_map(schemas_of).collect();
    let responses: Map<String, Value> = functions.iter().map(response).collect();
    json!({ "schemas": schemas, "responses": responses })
}

fn schemas_of(function: &Function) -> [(String, Value); 2] {
    let mut arguments = function.parameters.clone();
    arguments.insert("description".to_owned(), function.description.clone().into());
    arguments.insert("additionalProperties".to_owned(), false.into());
    arguments.insert("x-needs".to_owned(), function.needs.as_str().into());
    [(function.name.to_owned(), Value::Object(arguments)), (answer_name(function), (function.answer)())]
}

fn answer_name(function: &Function) -> String {
    format!("{}_answer", function.name)
}

fn each(functions: &[Function], declare: fn(&Function) -> Value) -> Value {
    functions.iter().map(declare).collect()
}

/// A schema as OpenAI's strict mode wants it: every object closed, every property required, and null for those that may
/// be left out.
fn strict(schema: &Map<String, Value>) -> Value {
    let mut strict_schema = schema.clone();
    if let Some(Value::Object(items)) = schema.get("items") {
        strict_schema.insert("items".to_owned(), strict(items));
    }
    let Some(Value::Object(properties)) = schema.get("properties") else { return Value::Object(strict_schema) };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|required| required == name));
    let closed = properties.iter().map(|(name, property)| {
        let property = property.as_object().map_or_else(|| property.clone(), strict);
        (name.clone(), if is_required(name) { property } else { nullable(property) })
    });
    strict_schema.insert("properties".to_owned(), Value::Object(closed.collect()));
    strict_schema.insert("required".to_owned(), properties.keys().cloned().collect());
    strict_schema.insert("additionalProperties".to_owned(), false.into());
    Value::Object(strict_schema)
}

/// The same schema with null as another value.
fn nullable(mut schema: Value) -> Value {
    if let Some(kind) = schema.get("type").cloned() {
        schema["type"] = json!([kind, "null"]);
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.push(Value::Null);
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions() -> Vec<Function> {
        tool_call::listed(&ListedTools::All).map(function).collect()
    }

    /// Checks every object of a schema against what OpenAI's documentation says of strict mode.
    fn check_strict(schema: &Value, path: &str) {
        let known = ["type", "description", "properties", "required", "items", "enum", "additionalProperties"];
        let object = schema.as_object().unwrap_or_else(|| panic!("{path}: {schema}"));
        assert!(object.keys().all(|word| known.contains(&word.as_str())), "{path}: {schema}");
        if schema["type"] == "object" || schema["type"] == json!(["object", "null"]) {
            let properties = schema["properties"].as_object().unwrap_or_else(|| panic!("{path} has no properties"));
            assert_eq!(schema["additionalProperties"], false, "{path}");
            let required: Vec<&str> = schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            assert!(properties.keys().all(|name| required.contains(&name.as_str())), "{path}: {required:?}");
            properties.iter().for_each(|(name, schema)| check_strict(schema, &format!("{path}.{name}")));
        }
        if let Some(items) = schema.get("items") {
            check_strict(items, &format!("{path}[]"));
        }
    }

    #[test]
    fn strict_schemas_are_closed_and_complete() {
        for function in functions() {
            check_strict(&strict(&function.parameters), function.name);
        }
    }

    #[test]
    fn what_may_be_left_out_may_be_null() {
        let schema = json!({
            "type": "object", "required": ["a"],
            "properties": { "a": { "type": "string" }, "b": { "type": "string", "enum": ["x"] } },
        });
        let expected = json!({
            "type": "object", "required": ["a", "b"], "additionalProperties": false,
            "properties": {
                "a": { "type": "string" }, "b": { "type": ["string", "null"], "enum": ["x", null] },
            },
        });
        assert_eq!(strict(schema.as_object().unwrap()), expected);
    }

    #[test]
    fn every_form_has_every_tool() {
        let functions = functions();
        for form in FORMS {
            let document = (form.document)(&functions).to_string();
            for function in &functions {
                assert!(document.contains(&format!("\"{}\"", function.name)), "{} lacks {}", form.name, function.name);
            }
        }
    }
}
