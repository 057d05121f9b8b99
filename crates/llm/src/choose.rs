//! CHOOSE: which upstreams may answer a call, and at which prices.

use std::sync::Arc;

use super::gateway::Gateway;
use super::key::CallScope;
use super::price::{Takes, Tariff};
use super::upstream::Upstream;
use super::wire::{Asked, Complaint, Endpoint, Kind, Wire};

impl<K, P> Gateway<K, P> {
    /// The models that a caller may use and that somebody serves, as far as they have names.
    pub(super) fn offered(&self, scope: &CallScope) -> Vec<String> {
        let names =
            self.upstreams.iter().flat_map(|upstream| upstream.settings.models.iter()).chain(scope.models.iter());
        let served = |name: &str| self.upstreams.iter().any(|upstream| upstream.settings.models.include(name));
        let mut offered: Vec<String> = names
            .filter_map(|pattern| pattern.name())
            .filter(|name| scope.models.include(name) && served(name))
            .map(str::to_owned)
            .collect();
        offered.sort_unstable();
        offered.dedup();
        offered
    }

    /// The upstreams that may be asked, in order.
    pub(super) fn choose(&self, wire: Wire, scope: &CallScope, asked: &Asked) -> Result<Vec<Arc<Upstream>>, Complaint> {
        let model = &asked.model;
        if !scope.models.include(model) {
            let message = format!("this run may not use the model `{model}`; it may use {}", scope.models);
            return Err(Complaint::new(Kind::Forbidden, message));
        }
        let serving: Vec<_> = self.upstreams.iter().filter(|upstream| upstream.serves(wire, model)).cloned().collect();
        if serving.is_empty() {
            let message = format!("no upstream serves `{model}` in the wire format `{wire}`; add one to gateway.toml");
            return Err(Complaint::new(Kind::Unknown, message));
        }
        let refused = asked.needs.iter().find(|need| !serving[0].settings.permits(need)).cloned();
        let mut permitting = serving;
        permitting.retain(|upstream| asked.needs.iter().all(|need| upstream.settings.permits(need)));
        match refused {
            Some(need) if permitting.is_empty() => Err(need.complaint()),
            Some(_) | None => Ok(permitting),
        }
    }

    /// One for each upstream; none at all if the call is free.
    pub(super) fn tariffs(
        &self,
        endpoint: &Endpoint,
        upstreams: &[Arc<Upstream>],
        asked: &Asked,
    ) -> Result<Vec<Tariff>, Complaint> {
        if endpoint.is_free {
            return Ok(Vec::new());
        }
        let takes = if asked.refers { Takes::Anything } else { Takes::Text };
        let tariff = |upstream: &Arc<Upstream>| {
            let provider = upstream.settings.provider.as_deref();
            self.prices.tariff(provider, upstream.calls(&asked.model)).map(|tariff| tariff.taking(takes))
        };
        let all: Result<_, _> = upstreams.iter().map(tariff).collect();
        all.map_err(|none| Complaint::new(Kind::Forbidden, none.to_string()))
    }
}
