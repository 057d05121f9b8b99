//! Help: the keys, and how it works in a few sentences.

use maud::{Markup, html};
use placet_lang::Lang;

use crate::markup::layout::{Here, Live, Viewer, page};
use crate::markup::parts::section;

pub(crate) fn help(viewer: &Viewer) -> Markup {
    let lang = viewer.lang;
    let keys: [(&[&str], &str); 13] = [
        (&["j", "k"], lang.key_next()),
        (&["Enter"], lang.key_open()),
        (&["a"], lang.key_approve()),
        (&["r"], lang.key_reject()),
        (&["e"], lang.key_amend()),
        (&["s"], lang.key_order()),
        (&["x"], lang.key_identical()),
        (&["w"], lang.key_assign()),
        (&["l"], lang.key_defer()),
        (&["d"], lang.key_files()),
        (&["g"], lang.key_inbox()),
        (&["/"], lang.key_find()),
        (&["?"], lang.key_help()),
    ];
    let content = html! {
        h1 { (lang.nav_help()) }
        (section("keys", lang.keys(), &html! {
            dl.facts.wide {
                @for (names, meaning) in keys {
                    div { dt { @for name in names { kbd { (name) } " " } } dd { (meaning) } }
                }
            }
            p.note { (lang.keys_rule()) }
        }))
        (section("how", lang.how_it_works(), &how(lang)))
    };
    page(viewer, Here::Help, lang.nav_help(), &Live::around(), &content)
}

fn how(lang: Lang) -> Markup {
    let sentences: &[&str] = match lang {
        Lang::En => &[
            "Agents propose; they never act by themselves. The policy judges each proposal, with reasons that add up to a number.",
            "What you approve is exactly the bytes that are shown, once. If anything of it changes, you are asked again.",
            "What an agent says for itself is shown last and marked. Nothing of it is part of what you approve.",
            "Silence is never consent: what nobody decides in time is refused.",
            "Everything is in the ledger. Anyone can check it offline with a public key.",
        ],
        Lang::Fr => &[
            "Les agents proposent ; ils n'agissent jamais seuls. Les règles jugent chaque proposition, avec des raisons dont la somme est un nombre.",
            "Ce que vous approuvez, ce sont exactement les octets affichés, une seule fois. Si quoi que ce soit change, on vous redemande.",
            "Ce que l'agent dit pour lui-même est montré en dernier et signalé. Rien de cela ne fait partie de ce que vous approuvez.",
            "Le silence ne vaut jamais accord : ce que personne ne décide à temps est refusé.",
            "Tout est dans le registre. Chacun peut le vérifier hors ligne avec une clé publique.",
        ],
    };
    html! { ul { @for sentence in sentences { li { (sentence) } } } }
}
