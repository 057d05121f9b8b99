//! The OpenAPI 3.1 document, made from the route table.

use std::collections::BTreeMap;

use axum::Json;
use axum::http::Method;
use utoipa::openapi::path::{Operation, OperationBuilder, Parameter, ParameterIn, PathItemBuilder, PathsBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, HttpMethod, InfoBuilder, OpenApi, OpenApiBuilder, OpenApiVersion, Ref, Required,
    ResponseBuilder,
};

use super::route::{Access, Route, Shape, Takes, parameter};
use placet_wire::Problem;

pub(super) async fn document() -> Json<OpenApi> {
    Json(api_document())
}

/// The whole API, as OpenAPI 3.1.
pub fn api_document() -> OpenApi {
    let routes = super::routes();
    let mut paths: BTreeMap<&str, PathItemBuilder> = BTreeMap::new();
    for route in &routes {
        let item = paths.remove(&*route.path).unwrap_or_default();
        paths.insert(&*route.path, item.operation(method(route), operation(route)));
    }
    let paths = paths.into_iter().fold(PathsBuilder::new(), |all, (path, item)| all.path(path, item.build()));
    let info = InfoBuilder::new().title("Placet").version(env!("CARGO_PKG_VERSION"));
    let info = info.description(Some("The agent proposes, the human disposes, and a stranger can check it."));
    OpenApiBuilder::new()
        .openapi(OpenApiVersion::Version31)
        .info(info.build())
        .paths(paths.build())
        .components(Some(components(&routes).build()))
        .build()
}

fn components(routes: &[Route]) -> ComponentsBuilder {
    let bearer = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
    let signature = "`v1,` and the base64 of HMAC-SHA256 over `webhook-id.webhook-timestamp.body` (standard-webhooks)";
    let signature =
        SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description("webhook-signature", signature)));
    let components = ComponentsBuilder::new().security_scheme("token", bearer).security_scheme("signature", signature);
    let mut components = components.schema_from::<Problem>();
    for route in routes {
        let taken = if let Takes::Shape(shape) = &route.takes { Some(shape) } else { None };
        let given = route.gives.as_ref().map(|(_, shape)| shape);
        for shape in taken.into_iter().chain(given) {
            components = shape.schemas.iter().fold(components, |all, (name, schema)| all.schema(name, schema.clone()));
        }
    }
    components
}

fn method(route: &Route) -> HttpMethod {
    match route.method.as_str() {
        "POST" => HttpMethod::Post,
        "PUT" => HttpMethod::Put,
        "DELETE" => HttpMethod::Delete,
        _ => HttpMethod::Get,
    }
}

fn operation(route: &Route) -> Operation {
    let description = format!("Who may call it: {}.", route.access);
    let mut operation = OperationBuilder::new().summary(Some(route.about)).description(Some(description));
    operation = operation.operation_id(Some(operation_id(route)));
    for parameter in parameters(route) {
        operation = operation.parameter(parameter);
    }
    if let Some(scheme) = security(route.access) {
        operation = operation.security(SecurityRequirement::new(scheme, Vec::<String>::new()));
    }
    let refusal = ResponseBuilder::new().description("What is wrong and what to do.");
    let refusal = refusal.content("application/problem+json", reference("Problem"));
    with_bodies(operation, route).response("default", refusal.build()).build()
}

fn parameters(route: &Route) -> Vec<Parameter> {
    let names = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let in_path = names.map(|name| parameter(name, ParameterIn::Path, Required::True).build());
    let about = "Your own name for this request: sent again under it, it has no second effect and the same answer.";
    let key = parameter("Idempotency-Key", ParameterIn::Header, Required::False).description(Some(about)).build();
    // A signed message has its name in `webhook-id`.
    let named_by_caller = route.method == Method::POST && security(route.access) == Some("token");
    in_path.chain(route.parameters.clone()).chain(named_by_caller.then_some(key)).collect()
}

/// How a caller shows who they are, by the name of the scheme.
const fn security(access: Access) -> Option<&'static str> {
    match access {
        Access::Public => None,
        Access::Signed => Some("signature"),
        Access::Anyone | Access::Roles(_) => Some("token"),
    }
}

fn with_bodies(operation: OperationBuilder, route: &Route) -> OperationBuilder {
    let body = match &route.takes {
        Takes::Nothing => None,
        Takes::Shape(shape) => Some(RequestBodyBuilder::new().content("application/json", named(shape)).build()),
        Takes::Free => {
            Some(RequestBodyBuilder::new().content("application/json", ContentBuilder::new().build()).build())
        }
    };
    let (status, answer) = match &route.gives {
        Some((status, shape)) => {
            (*status, ResponseBuilder::new().description("Done.").content("application/json", named(shape)))
        }
        None => (200, ResponseBuilder::new().description("Done.")),
    };
    let operation = operation.request_body(body).response(status.to_string(), answer.build());
    route.instead.iter().fold(operation, |operation, (status, when)| {
        operation.response(status.to_string(), ResponseBuilder::new().description(*when).build())
    })
}

fn reference(name: &str) -> utoipa::openapi::Content {
    ContentBuilder::new().schema(Some(Ref::from_schema_name(name))).build()
}

fn named(shape: &Shape) -> utoipa::openapi::Content {
    reference(&shape.name)
}

/// `post_api_v1_runs_run_start`: stable, unique, speakable.
fn operation_id(route: &Route) -> String {
    let path = route.path.trim_matches('/').replace(['/', '-', '.'], "_").replace(['{', '}'], "");
    format!("{}_{path}", route.method.as_str().to_ascii_lowercase())
}
