//! Upstreams that say back what they were sent: the real key is covered, and every other byte stays.

use placet_domain::digest::Digest;
use placet_llm::wire::Wire;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::world::{Plan, REAL_KEY, Reply, World, question};

/// What it says: `KEY` stands for the key that it was sent.
#[derive(Clone)]
struct Echo {
    status: u16,
    kind: &'static str,
    body: String,
    /// Where the body is cut in two chunks.
    cut: Option<usize>,
}

impl Echo {
    fn json(status: u16, body: &str) -> Self {
        Self { status, kind: "application/json", body: body.to_owned(), cut: None }
    }

    /// As it says it to somebody who sent this key.
    fn body(&self, key: &str) -> String {
        self.body.replace("KEY", key)
    }

    async fn start(self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(self.clone().answer(socket));
            }
        });
        url
    }

    async fn answer(self, mut socket: TcpStream) -> std::io::Result<()> {
        let mut heard = [0; 64 << 10];
        let size = socket.read(&mut heard).await?;
        let heard = String::from_utf8_lossy(&heard[..size]).into_owned();
        let key = if heard.contains(REAL_KEY) { REAL_KEY } else { "no key" };
        let body = self.body(key);
        let head = format!(
            "HTTP/1.1 {} Odd\r\ncontent-type: {}\r\nx-request-id: for-{key}\r\nconnection: close\r\n",
            self.status, self.kind
        );
        let Some(cut) = self.cut else {
            return socket.write_all(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes()).await;
        };
        socket.write_all(format!("{head}transfer-encoding: chunked\r\n\r\n").as_bytes()).await?;
        for part in [&body[..cut], &body[cut..]] {
            socket.write_all(format!("{:x}\r\n{part}\r\n", part.len()).as_bytes()).await?;
            socket.flush().await?;
        }
        socket.write_all(b"0\r\n\r\n").await
    }
}

async fn asked(echo: &Echo, streams: bool, wire: Wire) -> (Reply, World) {
    let plan = Plan { keeps_words: true, ..Plan::default() };
    let world = World::before(&[echo.clone().start().await], plan).await;
    (world.agent.ask(&question(wire, streams)).await, world)
}

fn covered() -> String {
    "*".repeat(REAL_KEY.len())
}

#[tokio::test]
async fn r24_an_upstream_that_echoes_its_request_does_not_hand_the_agent_the_real_key() {
    let error = r#"{"error":{"message":"cannot read `Bearer KEY`, nor %22KEY%22"}}"#;
    let whole =
        r#"{"type":"message","model":"m","content":"KEY KEYKEY","usage":{"input_tokens":10,"output_tokens":20}}"#;
    for (status, body) in
        [(400, error), (404, error), (422, error), (429, error), (500, error), (503, error), (200, whole)]
    {
        let echo = Echo::json(status, body);
        let (reply, world) = asked(&echo, false, Wire::Messages).await;
        assert_eq!((reply.status, &reply.body[..]), (status, echo.body(&covered()).as_bytes()), "{status}");
        assert_eq!(reply.headers["x-request-id"], format!("for-{}", covered()).as_str(), "{status}");
        let record = world.record().await;
        assert_eq!(record.response, Digest::of(&reply.body), "{status}: of what the agent got");
        let words = format!("{record:?} {}", String::from_utf8_lossy(&world.wallet.words()[0].1.response.bytes));
        assert!(!words.contains(REAL_KEY) && words.contains(&covered()), "{status}: {words}");
    }
}

#[tokio::test]
async fn r24_the_real_key_is_covered_wherever_a_stream_is_cut_and_the_tokens_are_counted() {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"KEY\"}}]}\n\n\
        data: {\"model\":\"m\",\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":20}}\n\ndata: [DONE]\n\n";
    let echo = Echo { status: 200, kind: "text/event-stream", body: body.to_owned(), cut: None };
    let end = body.find("\"}}]}").unwrap() + REAL_KEY.len();
    for cut in 1..end {
        let (reply, world) = asked(&Echo { cut: Some(cut), ..echo.clone() }, true, Wire::Chat).await;
        assert_eq!(String::from_utf8_lossy(&reply.body), echo.body(&covered()), "{cut}");
        let record = world.record().await;
        assert_eq!((record.tokens.total(), record.estimated), (30, false), "{cut}");
    }
}

#[tokio::test]
async fn r24_what_only_begins_like_the_key_passes_to_its_last_byte() {
    let begins = &REAL_KEY[..REAL_KEY.len() - 1];
    let body = format!("{{\"type\":\"message\",\"content\":\"{begins}\"}} {begins}");
    for cut in [None, Some(body.len() - begins.len() - 1), Some(body.len() - 3)] {
        let echo = Echo { cut, ..Echo::json(200, &body) };
        let (reply, _world) = asked(&echo, false, Wire::Messages).await;
        assert_eq!(String::from_utf8_lossy(&reply.body), body, "{cut:?}");
    }
}

#[tokio::test]
async fn a_key_that_could_be_any_word_is_not_looked_for() {
    let url = Echo::json(200, r#"{"content":"ollama says hi"}"#).start().await;
    let text = format!(
        "[[upstream]]\nname = 'up'\nwire = ['messages']\nbase_url = '{url}'\nmodels = ['m']\n\
         key = {{ command = ['echo', 'ollama'] }}\n[[price]]\nmodel = 'm'\ninput = 1\noutput = 1\n"
    );
    let world = World::reading(&text, Plan::default()).await;
    let reply = world.agent.ask(&question(Wire::Messages, false)).await;
    assert_eq!(&reply.body[..], br#"{"content":"ollama says hi"}"#);
}
