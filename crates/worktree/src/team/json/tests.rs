//! That the reader keeps lines, and takes exactly what the strict reader of the domain takes.

use proptest::prelude::*;

use super::*;

fn flaws(text: &str) -> Vec<(usize, String)> {
    parse(text.as_bytes()).unwrap_err().into_iter().map(|flaw| (flaw.line, flaw.message)).collect()
}

#[test]
fn each_value_knows_its_line() {
    let node = parse(b"{\n  \"a\": [\n    1,\n\n    {\"b/c~\": true}\n  ]\n}").unwrap();
    assert_eq!(node.line_of(""), 1);
    assert_eq!(node.line_of("/a"), 2);
    assert_eq!(node.line_of("/a/0"), 3);
    assert_eq!(node.line_of(&below("/a/1", "b/c~")), 5);
    assert_eq!(node.line_of("/a/7/x"), 2, "the last thing on the way");
}

#[test]
fn all_duplicate_keys_are_found_with_both_lines() {
    let found = flaws("{\"a\": 1,\n\"a\": 2,\n\"b\": {\"x\": 1, \"\\u0078\": 2}}");
    assert_eq!(found[0].0, 2);
    assert!(found[0].1.contains("`a` appears twice (first on line 1)"), "{found:?}");
    assert_eq!((found[1].0, found.len()), (3, 2));
}

#[test]
fn what_ends_the_reading_says_where_and_what() {
    let cases = [
        ("{\n\"a\" 1}", 2, "expected `:`"),
        ("[1,\n]", 2, "remove it"),
        ("{}\n{}", 2, "after the end"),
        ("{\"a\": \"x\n\"}", 1, "not closed on its line"),
        ("\n\n", 3, "the end of the file"),
        ("[1 2]", 1, "expected `,` or `]`"),
        ("{'a': 1}", 1, "double quotes"),
        ("[\"\\q\"]", 1, "broken escape"),
        ("[01]", 1, "not a number"),
        ("[9007199254740993]", 1, "beyond"),
        ("// note\n{}", 1, "expected a value, found `/`"),
    ];
    for (text, line, part) in cases {
        let found = flaws(text);
        assert_eq!(found[0].0, line, "{text:?}: {found:?}");
        assert!(found[0].1.contains(part), "{text:?}: {found:?}");
    }
    assert!(parse(b"\"a\n\xff\"").unwrap_err()[0].message.contains("UTF-8"));
}

/// Texts that are nearly JSON.
fn nearly_json() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"b\"",
        "\"\\u0061\"",
        "1",
        "-0",
        "1e3",
        "1.5",
        "9007199254740992",
        "01",
        "true",
        "null",
        " ",
        "\n",
        "\"\\ud800\"",
        "\"é\"",
        "\"",
        "\\",
        "x",
        "\u{feff}",
        "\t",
        "\r",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn agrees(text: &str) {
    let strict = placet_domain::canonical::parse(text.as_bytes()).ok();
    let ours = parse(text.as_bytes()).ok().map(|node| node.to_value());
    assert_eq!(ours, strict, "{text:?}");
}

#[test]
fn depth_is_bounded_as_in_the_domain() {
    for depth in [31, 32, 33, 100_000] {
        agrees(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    }
    agrees(&format!("{}1{}", "[".repeat(32), "]".repeat(32)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_same_texts_are_accepted_with_the_same_meaning_as_by_the_strict_reader_of_the_domain(text in nearly_json()) {
        agrees(&text);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = parse(&bytes);
    }
}
