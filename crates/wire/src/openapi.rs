//! The OpenAPI 3.1 document, made from the table of endpoints.

use std::collections::BTreeMap;

use reqwest::Method;
use utoipa::openapi::path::{
    Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn, PathItemBuilder, PathsBuilder,
};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, HttpMethod, InfoBuilder, ObjectBuilder, OpenApi, OpenApiBuilder, OpenApiVersion,
    Ref, Required, ResponseBuilder, Type,
};

use crate::access::Access;
use crate::endpoint::{BodyForm, ENDPOINTS, EndpointRow, NamedSchema, paths};
use crate::problem::Problem;

/// Describes the whole API as OpenAPI 3.1.
pub fn api_document() -> OpenApi {
    let mut items: BTreeMap<String, PathItemBuilder> = BTreeMap::new();
    for (path, row) in paths() {
        let item = items.remove(&path).unwrap_or_default();
        let operation = operation(&path, row);
        items.insert(path, item.operation(method(row), operation));
    }
    let paths = items.into_iter().fold(PathsBuilder::new(), |all, (path, item)| all.path(path, item.build()));
    let info = InfoBuilder::new().title("Placet").version(env!("CARGO_PKG_VERSION"));
    let info = info.description(Some("The agent proposes, the human disposes, and a stranger can check it."));
    OpenApiBuilder::new()
        .openapi(OpenApiVersion::Version31)
        .info(info.build())
        .paths(paths.build())
        .components(Some(components().build()))
        .build()
}

fn components() -> ComponentsBuilder {
    let bearer = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
    let signature = "`v1,` and the base64 of HMAC-SHA256 over `webhook-id.webhook-timestamp.body` (standard-webhooks)";
    let signature =
        SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description("webhook-signature", signature)));
    let components = ComponentsBuilder::new().security_scheme("token", bearer).security_scheme("signature", signature);
    let mut components = components.schema_from::<Problem>();
    for row in ENDPOINTS {
        for NamedSchema { schemas, .. } in described_body(row).into_iter().chain(row.answer.map(|schema| schema())) {
            components = schemas.into_iter().fold(components, |all, (name, schema)| all.schema(name, schema));
        }
    }
    components
}

fn described_body(row: &EndpointRow) -> Option<NamedSchema> {
    match row.body {
        Some(BodyForm::Json(schema)) => Some(schema()),
        Some(BodyForm::Undescribed | BodyForm::Bytes) | None => None,
    }
}

fn method(row: &EndpointRow) -> HttpMethod {
    match row.method.as_str() {
        "POST" => HttpMethod::Post,
        "PUT" => HttpMethod::Put,
        "DELETE" => HttpMethod::Delete,
        _ => HttpMethod::Get,
    }
}

fn operation(path: &str, row: &EndpointRow) -> Operation {
    let description = format!("Who may call it: {}.", row.access);
    let mut operation = OperationBuilder::new().summary(Some(row.summary)).description(Some(description));
    operation = operation.operation_id(Some(operation_id(path, row)));
    for parameter in parameters(path, row) {
        operation = operation.parameter(parameter);
    }
    if let Some(scheme) = security(row.access) {
        operation = operation.security(SecurityRequirement::new(scheme, Vec::<String>::new()));
    }
    let refusal = ResponseBuilder::new().description("The problem and how to solve it.");
    let refusal = refusal.content("application/problem+json", reference("Problem"));
    with_answers(operation.request_body(body(row)), row).response("default", refusal.build()).build()
}

/// Parameters of the path, of the query and of the headers.
fn parameters(path: &str, row: &EndpointRow) -> Vec<Parameter> {
    let in_path = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut all: Vec<Parameter> =
        in_path.map(|name| parameter(name, ParameterIn::Path, Required::True).build()).collect();
    all.extend(row.query.map(|query| query(|| Some(ParameterIn::Query))).unwrap_or_default());
    if row.on_seen {
        all.push(header("If-Match", Required::True, "The digest of what you were shown and decide on, in quotes."));
    }
    if row.resumable {
        let about = "The number of the last event you got; the next one follows it.";
        all.push(header("Last-Event-ID", Required::False, about));
    }
    // A signed message has its name in `webhook-id`.
    if row.method == Method::POST && security(row.access) == Some("token") {
        let about = "Your own name for this request: sent again under it, it has no second effect and the same answer.";
        all.push(header("Idempotency-Key", Required::False, about));
    }
    all
}

fn header(name: &str, required: Required, about: &str) -> Parameter {
    parameter(name, ParameterIn::Header, required).description(Some(about)).build()
}

/// Builds a parameter that is text.
fn parameter(name: &str, place: ParameterIn, required: Required) -> ParameterBuilder {
    let text = ObjectBuilder::new().schema_type(Type::String).build();
    ParameterBuilder::new().name(name).parameter_in(place).required(required).schema(Some(text))
}

/// The scheme by which a caller authenticates.
const fn security(access: Access) -> Option<&'static str> {
    match access {
        Access::Public => None,
        Access::Signed => Some("signature"),
        Access::Anyone | Access::Roles(_) => Some("token"),
    }
}

fn body(row: &EndpointRow) -> Option<RequestBody> {
    let (kind, content) = match row.body? {
        BodyForm::Json(schema) => ("application/json", reference(&schema().name)),
        BodyForm::Undescribed => ("application/json", ContentBuilder::new().build()),
        BodyForm::Bytes => ("application/octet-stream", ContentBuilder::new().build()),
    };
    Some(RequestBodyBuilder::new().content(kind, content).build())
}

fn with_answers(operation: OperationBuilder, row: &EndpointRow) -> OperationBuilder {
    let done = ResponseBuilder::new().description("Done.");
    let done = match row.answer {
        Some(schema) => done.content("application/json", reference(&schema().name)),
        None => done,
    };
    let operation = operation.response(row.status.to_string(), done.build());
    row.instead.iter().fold(operation, |operation, (status, when)| {
        operation.response(status.to_string(), ResponseBuilder::new().description(*when).build())
    })
}

fn reference(name: &str) -> utoipa::openapi::Content {
    ContentBuilder::new().schema(Some(Ref::from_schema_name(name))).build()
}

/// Names an operation like `post_api_v1_runs_run_start`: stable and unique.
fn operation_id(path: &str, row: &EndpointRow) -> String {
    let path = path.trim_matches('/').replace(['/', '-', '.'], "_").replace(['{', '}'], "");
    format!("{}_{path}", row.method.as_str().to_ascii_lowercase())
}
