//! One request from its first byte to its record. Whatever happens, and even if it is dropped half-way, it leaves exactly
//! one record.

use std::net::SocketAddr;

use placet_dial::address::classify_address;
use tokio::net::TcpStream;

use super::Egress;
use super::carry::Carriage;
use super::record::{Decision, EgressRecord, MOST_LISTED, MOST_PATH, Way, Why, Wish};
use super::resolve;
use super::rules::{Asks, Grant, Kind, Reason, Request, Speaks, decide};

pub(super) struct Trip<'a> {
    egress: &'a Egress,
    carriage: Carriage<'a>,
    record: EgressRecord,
    /// What the client was heard to speak.
    spoken: Option<Speaks>,
    is_granted: bool,
    is_over: bool,
}

impl<'a> Trip<'a> {
    pub(super) fn begin(egress: &'a Egress, way: Way) -> Self {
        let record = EgressRecord {
            run: egress.run(),
            at: egress.now(),
            way,
            to: None,
            speaks: None,
            method: None,
            path: None,
            decision: Decision::Refused(Why::from(&Reason::Broken)),
            ended: None,
            address: None,
            listed: Vec::new(),
            encrypted_hello: false,
            status: None,
            bytes_up: 0,
            bytes_down: 0,
            duration_ms: 0,
        };
        let carriage = Carriage::new(egress.meter());
        Self { egress, carriage, record, spoken: None, is_granted: false, is_over: false }
    }

    pub(super) const fn carriage(&self) -> &Carriage<'a> {
        &self.carriage
    }

    pub(super) const fn record(&mut self) -> &mut EgressRecord {
        &mut self.record
    }

    /// What the client was heard to speak, whatever is made of it.
    pub(super) const fn heard(&mut self, spoken: Speaks) {
        self.spoken = Some(spoken);
    }

    /// Decides by the rules of this moment.
    pub(super) fn judge(&mut self, request: &Request) -> Result<Grant, Reason> {
        self.record.to = Some(request.to.clone());
        match request.asks {
            Asks::Http(_) => self.heard(Speaks::Http),
            Asks::Https(_) => self.heard(Speaks::Https),
            // Asked for, and not said yet.
            Asks::Tunnel | Asks::Tls | Asks::Plain => {}
        }
        if let Some(ask) = request.asks.http() {
            self.record.method = Some(ask.method.clone());
        }
        let grant = decide(&self.egress.rules().now(), request, self.egress.now())?;
        self.is_granted = true;
        self.record.speaks = Some(grant.speaks());
        self.record.decision = Decision::Allowed(grant.rule().to_string());
        Ok(grant)
    }

    /// What a request asks for that is seen, as it was written; without the query.
    pub(super) fn asks_for(&mut self, path: &str) {
        self.record.path = Some(path.bytes().take(MOST_PATH).map(char::from).collect());
    }

    /// Resolves, checks every address, writes down what is about to happen, and connects.
    pub(super) async fn reach(&mut self, request: &Request, grant: &Grant) -> Result<TcpStream, Reason> {
        let limits = self.egress.limits();
        let addresses = resolve::look_up(self.egress.resolver(), &request.to, grant, limits).await?;
        self.record.address = addresses.first().copied();
        let special = addresses.iter().map(SocketAddr::ip).filter(|&ip| classify_address(ip).is_some());
        self.record.listed = special.take(MOST_LISTED).collect();
        self.egress.sink().before(&self.record).map_err(|_| Reason::NotRecorded)?;
        self.record.address = None;
        let (stream, address): (TcpStream, SocketAddr) = resolve::connect(&addresses, limits).await?;
        self.record.address = Some(address);
        self.egress.meter().request();
        self.carriage.moved();
        Ok(stream)
    }

    /// The end of it, told once.
    pub(super) fn end(mut self, outcome: Result<(), &Reason>) {
        if let Err(reason) = outcome {
            self.conclude(reason);
        }
        self.write_down();
    }

    fn conclude(&mut self, reason: &Reason) {
        let why = Why::from(reason);
        match reason.kind() {
            Kind::Unclear | Kind::Cut | Kind::Trouble if self.is_granted => self.record.ended = Some(why),
            Kind::Unclear | Kind::Refused | Kind::Cut | Kind::Trouble => self.record.decision = Decision::Refused(why),
        }
        if let (true, Some(to)) = (self.is_wish(reason), &self.record.to) {
            self.egress.wish(Wish { to: to.clone(), method: self.record.method.clone(), spoken: self.spoken });
        }
    }

    /// What is not TLS can be allowed if it is HTTP.
    fn is_wish(&self, reason: &Reason) -> bool {
        reason.is_wish() || (matches!(reason, Reason::NotTls) && self.spoken == Some(Speaks::Http))
    }

    fn write_down(&mut self) {
        self.is_over = true;
        (self.record.bytes_up, self.record.bytes_down) = self.carriage.bytes();
        self.record.duration_ms = self.carriage.age_ms();
        self.egress.sink().after(&self.record);
    }
}

/// A trip that is dropped was broken off: its cage or its host ended.
impl Drop for Trip<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.conclude(&Reason::Broken);
            self.write_down();
        }
    }
}
