//! A browser without a screen: it follows no redirect by itself, holds the cookies it is given, and fills in forms that a page has.

use axum::http::{HeaderMap, Method};
use placet_wire::Endpoint as _;
use placet_wire::endpoint::CreateSignInLink;
use reqwest::header;

use crate::person::{Answer, Person};
use crate::scenario::Scenario;

#[derive(Debug, Clone)]
pub(crate) struct Browser {
    person: Person,
    origin: String,
    /// Under which name it asks, if not by the number.
    host: Option<String>,
    pub(crate) visit: Option<String>,
    pub(crate) language: &'static str,
}

/// A form of a page: where it goes and what it holds already.
#[derive(Debug, Clone)]
pub(crate) struct Filled {
    pub(crate) to: String,
    pub(crate) fields: Vec<(String, String)>,
}

impl Filled {
    /// A request that carries the form as browsers do.
    pub(crate) fn filled_into(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(&self.fields);
        request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded").body(body.finish())
    }

    /// The same with a field filled in, or filled in otherwise.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.fields.retain(|(known, _)| known != name);
        self.fields.push((name.to_owned(), value.to_owned()));
        self
    }
}

impl Browser {
    pub(crate) fn of(app: &Scenario, person: &Person) -> Self {
        let origin = format!("http://{}", app.address());
        Self { person: person.clone(), origin, host: None, visit: None, language: "en" }
    }

    /// The same at `localhost`, where passkeys can be used.
    pub(crate) fn by_name(self, app: &Scenario) -> Self {
        let host = app.address().replace("127.0.0.1", "localhost");
        Self { origin: format!("http://{host}"), host: Some(host), ..self }
    }

    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// A browser in which this person is signed in, by a link of their own.
    pub(crate) async fn visiting(app: &Scenario, person: &Person) -> Self {
        let mut browser = Self::of(app, person);
        let link = link_of(person).await;
        let page = browser.open(&link).await.is(200);
        let form = browser.form(&page, "");
        browser.send(&form).await.is(303);
        assert!(browser.visit.is_some(), "a link lets in");
        browser
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.person.anonymous(method, path).header(header::ACCEPT_LANGUAGE, self.language);
        let request = request.header(header::ACCEPT, "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8");
        let request = self.host.iter().fold(request, |request, host| request.header(header::HOST, host));
        match &self.visit {
            Some(visit) => request.header(header::COOKIE, format!("placet_visit={visit}")),
            None => request,
        }
    }

    pub(crate) async fn open(&self, path: &str) -> Answer {
        Answer::to(self.request(Method::GET, path)).await
    }

    /// Sends what is said, as a page of this very control plane would.
    pub(crate) async fn send(&mut self, form: &Filled) -> Answer {
        let origin = self.origin.clone();
        self.send_from(&origin, form).await
    }

    /// Sends it as if a page of that origin did.
    pub(crate) async fn send_from(&mut self, origin: &str, form: &Filled) -> Answer {
        let request = self.request(Method::POST, &form.to).header(header::ORIGIN, origin);
        let answer = Answer::to(form.filled_into(request)).await;
        self.keep(&answer.headers);
        answer
    }

    /// Opens it with another cookie beside the visit's.
    pub(crate) async fn open_with(&self, path: &str, cookie: &str) -> Answer {
        Answer::to(self.request(Method::GET, path).header(header::COOKIE, cookie)).await
    }

    pub(crate) fn keep(&mut self, headers: &HeaderMap) {
        for line in headers.get_all("set-cookie") {
            let line = line.to_str().unwrap();
            if let Some(value) = line.strip_prefix("placet_visit=") {
                assert!(line.contains("HttpOnly") && line.contains("SameSite=Lax"), "{line}");
                self.visit = value.split(';').next().map(str::to_owned).filter(|value| !value.is_empty());
            }
        }
    }

    /// The form of this id on a page; without an id, the first one that does not stand around every page.
    pub(crate) fn form(&self, page: &Answer, id: &str) -> Filled {
        let html = page.text();
        let named = |form: &&str| {
            let head = form.split('>').next().unwrap_or_default();
            let is_around = head.contains("/leave") || head.contains("role=\"search\"");
            if id.is_empty() { !is_around } else { head.contains(&format!("id=\"{id}\"")) }
        };
        let form = html.split("<form ").skip(1).find(named).unwrap_or_else(|| panic!("no form `{id}`:\n{html}"));
        let form = form.split("</form>").next().unwrap();
        let fields = form.split("<input ").skip(1).map(|input| input.split('>').next().unwrap());
        let held = fields.filter(|input| input.contains("type=\"hidden\"") || input.contains("checked"));
        let pairs = held.map(|input| (attribute(input, "name"), attribute(input, "value"))).collect();
        Filled { to: attribute(form, "action"), fields: pairs }
    }

    /// The same with everything that a browser sends if nobody touches it: what stands in its lines and its texts.
    pub(crate) fn untouched(&self, page: &Answer, id: &str) -> Filled {
        let html = page.text();
        let form = html.split(&format!("id=\"{id}\"")).nth(1).unwrap_or_else(|| panic!("no form `{id}`:\n{html}"));
        let form = form.split("</form>").next().unwrap();
        let tags = form.split("<input ").skip(1).map(|input| input.split('>').next().unwrap());
        let shown = tags.filter(|tag| !tag.contains("type=") && tag.contains("value=\""));
        let mut filled = self.form(page, id);
        filled.fields.extend(shown.map(|tag| (attribute(tag, "name"), decoded(&attribute(tag, "value")))));
        for text in form.split("<textarea ").skip(1) {
            let (tag, rest) = text.split_once('>').unwrap();
            let inner = rest.split("</textarea>").next().unwrap().replace("\r\n", "\n");
            let held = decoded(inner.strip_prefix('\n').unwrap_or(&inner)).replace('\n', "\r\n");
            filled.fields.push((attribute(tag, "name"), held));
        }
        filled
    }
}

fn decoded(html: &str) -> String {
    html.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

fn attribute(tag: &str, name: &str) -> String {
    let value = tag.split(&format!("{name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
    value.unwrap_or_else(|| panic!("no `{name}` in {tag}")).replace("&amp;", "&")
}

/// The path of a fresh link for the person themselves.
pub(crate) async fn link_of(person: &Person) -> String {
    let made: placet_wire::api::LinkOnce =
        person.post(&CreateSignInLink { identity: person.id }.path(), &serde_json::json!({})).await.is(201).json();
    made.path
}
