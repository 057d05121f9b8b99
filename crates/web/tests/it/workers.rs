//! Pages of workers.

use placet_wire::Endpoint as _;
use placet_wire::endpoint::DeclareWorker;

use crate::browser::Browser;
use crate::moves::declaration;
use crate::scenario::Scenario;

#[tokio::test]
async fn c16_pages_of_workers_show_their_claims_harmless_and_say_what_is_not_as_here() {
    let (app, _, reviewer, worker) = Scenario::start().await;
    let rita = Browser::visiting(&app, &reviewer).await;
    let silent = rita.open(&format!("/workers/{}", worker.id)).await.is(200).text();
    assert!(silent.contains("It has not said what it is"), "{silent}");
    worker.post(&DeclareWorker {}.path(), &declaration("9.9.9")).await.is(200);
    let list = rita.open("/workers").await.is(200).text();
    for part in ["9.9.9", "another one than the control plane", "0 of 2", "0 of 4", "degraded", "landlock"] {
        assert!(list.contains(part), "{part}: {list}");
    }
    let one = rita.open(&format!("/workers/{}", worker.id)).await.is(200).text();
    for part in ["&lt;b&gt;lab", "⟦U+202E⟧", "Not as here", "files are kept apart", "own"] {
        assert!(one.contains(part), "{part}: {one}");
    }
    rita.open(&format!("/workers/{}", reviewer.id)).await.is(404);
    let others = app.neighbours("beta").await;
    Browser::visiting(&app, &others.reviewer).await.open(&format!("/workers/{}", worker.id)).await.is(404);
}
