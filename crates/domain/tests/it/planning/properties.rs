//! What holds for every intent, not only for those that somebody thought of.

use placet_domain::canonical;
use placet_domain::catalogue::{Capability, Catalogue};
use placet_domain::planning::{DataClass, DeclaredStep, Input, Intent, Plan, PlanRefusal, estimate, plan};
use placet_domain::run::{Effect, Mode};
use proptest::prelude::*;

use super::{catalogue, templates, the};

fn word() -> impl Strategy<Value = String> {
    prop_oneof![Just("fix".to_owned()), Just("scrape".to_owned()), Just("send".to_owned()), "[a-zé ]{1,12}"]
}

fn step() -> impl Strategy<Value = DeclaredStep> {
    let capability = prop::option::of(prop::sample::select(Capability::ALL));
    let pages = prop_oneof![9 => 0..40_u64, 1 => 0..200_000_u64];
    let turns = prop_oneof![9 => 1..30_u64, 1 => 0..20_000_u64];
    (word(), capability, any::<bool>(), prop::option::of(pages), turns).prop_filter_map(
        "a title has something to read in it",
        |(title, capability, checkpoint, pages, turns)| {
            Some(DeclaredStep { title: title.parse().ok()?, capability, checkpoint, pages, turns })
        },
    )
}

fn input() -> impl Strategy<Value = Input> {
    let seldom = prop::sample::select(DataClass::ALL);
    let class = prop_oneof![8 => Just(DataClass::Public), 1 => seldom];
    ("[a-z]{2}", class, any::<bool>()).prop_map(|(path, class, shared)| Input {
        path: the(&path),
        class,
        shared,
        digest: None,
    })
}

prop_compose! {
    fn intents()(
        goal in "[A-Za-z]{0,8} (fix|scrape|test|report|send|[a-z]{4})",
        inputs in prop::collection::vec(input(), 0..3),
        steps in prop_oneof![Just(Vec::new()), prop::collection::vec(step(), 1..5)],
        template in prop::option::weighted(0.2, prop_oneof![Just("code_change"), Just("price_scrape"), Just("nowhere")]),
        agent in prop::option::weighted(0.1, prop_oneof![Just("our_code_agent"), Just("goose"), Just("nobody")]),
        mode in prop::sample::select(Mode::ALL),
        effect in prop::sample::select(Effect::ALL),
        tokens in prop::option::weighted(0.2, prop_oneof![9 => 0..9_000_000_u64, 1 => any::<u64>()]),
        target in prop::option::weighted(0.2, prop_oneof![Just("example.org"), Just("10.0.0.0/8")]),
    ) -> Intent {
        let mut intent = super::intent(&format!("it {goal}"));
        intent.constraints.targets = target.into_iter().map(the).collect();
        intent.ceiling.tokens = tokens;
        let template = template.map(the);
        let agent = agent.map(the);
        Intent { inputs, steps, template, agent, mode, effect, ..intent }
    }
}

fn fits(plan: &Plan) -> bool {
    let mut rows = plan.selection.table.iter().filter(|row| row.agent == plan.selection.chosen);
    rows.all(|row| row.fits)
}

proptest! {
    #[test]
    fn c7_planning_is_deterministic_and_a_choice_always_fits_its_own_table(intent in intents()) {
        let (catalogue, templates) = (catalogue(), templates());
        let first = plan(&intent, catalogue, templates);
        prop_assert_eq!(&first, &plan(&intent, catalogue, templates));
        match first {
            Ok(plan) => {
                prop_assert!(fits(&plan));
                prop_assert_eq!(&plan.selection.ranking[0].agent, &plan.selection.chosen);
                prop_assert!(plan.subtasks.last().unwrap().gate_after);
                prop_assert!(plan.task.inputs.iter().all(|input| input.withheld().is_none()));
            }
            Err(PlanRefusal::NobodyFits { table, .. }) => {
                for entry in catalogue.iter() {
                    prop_assert!(table.iter().any(|row| row.agent == entry.id && !row.fits));
                }
            }
            Err(PlanRefusal::Intent(objections)) => prop_assert!(!objections.is_empty()),
            Err(PlanRefusal::UnknownTemplate { name, .. }) => prop_assert_eq!(name.as_str(), "nowhere"),
            Err(refusal @ PlanRefusal::TooLarge { .. }) => prop_assert!(false, "not so large: {refusal}"),
        }
    }

    #[test]
    fn c7_a_plan_is_recorded_and_read_back_as_it_was(intent in intents()) {
        let Ok(plan) = plan(&intent, catalogue(), templates()) else { return Ok(()) };
        let bytes = canonical::to_bytes(&plan);
        let strict = canonical::parse(&bytes).expect("a plan is strict JSON");
        prop_assert_eq!(serde_json::from_value::<Plan>(strict).unwrap(), plan);
        let intent_again: Intent = serde_json::from_slice(&canonical::to_bytes(&intent)).unwrap();
        prop_assert_eq!(intent_again, intent);
    }

    #[test]
    fn c7_another_step_turn_or_page_never_lowers_an_estimate(
        turns in 1..10_000_u64, pages in 0..100_000_u64, more in 0..1_000_u64, percent in 100..1_000_u64,
    ) {
        let with = |turns, pages| {
            let steps = vec![DeclaredStep {
                title: the("Run it"), capability: Some(Capability::RunCode), checkpoint: true, pages: Some(pages), turns,
            }];
            placet_domain::planning::encode(&Intent { steps, ..super::intent("x") }).unwrap()
        };
        let catalogue = catalogue();
        let mut entry = catalogue.get(&the("our_browser_agent")).unwrap().clone();
        entry.averages.worst_case_percent = percent;
        let of = |turns: u64, pages: u64| {
            let task = with(turns.min(10_000), pages.min(100_000));
            estimate(&entry, &placet_domain::planning::decompose(&task, templates()).unwrap())
        };
        let (less, longer, wider) = (of(turns, pages), of(turns + more, pages), of(turns, pages + more));
        for resource in placet_domain::budget::Resource::ALL {
            prop_assert!(less.likely.of(*resource) <= less.worst.of(*resource));
            prop_assert!(less.likely.of(*resource) <= longer.likely.of(*resource));
            prop_assert!(less.worst.of(*resource) <= wider.worst.of(*resource));
        }
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in "(id|step|limits|\\[|\\]|=|\\{|\\}|\"|\n|[a-z0-9]){0,40}") {
        prop_assert!(Catalogue::with([("x.toml", text.as_str())]).is_err());
        prop_assert!(placet_domain::planning::Templates::with([("x.toml", text.as_str())]).is_err());
    }

    #[test]
    fn no_averages_however_large_make_an_estimate_overflow(rate: u64, percent: u64, turns in 1..10_000_u64) {
        let catalogue = catalogue();
        let mut entry = catalogue.get(&the("our_browser_agent")).unwrap().clone();
        entry.averages.worst_case_percent = percent;
        entry.averages.usd_micros_per_1k_tokens_in = rate;
        entry.averages.turn.tokens_in = rate;
        entry.averages.page.wall_ms = rate;
        let intent = Intent { template: Some(the("price_scrape")), ..super::intent("x") };
        let task = placet_domain::planning::encode(&intent).unwrap();
        let mut subtasks = placet_domain::planning::decompose(&task, templates()).unwrap();
        subtasks[0].turns = turns;
        let worst = estimate(&entry, &subtasks).worst;
        for resource in placet_domain::budget::Resource::ALL {
            prop_assert!(worst.of(*resource) <= canonical::LARGEST_SAFE_INTEGER);
        }
    }
}
