//! Tests of finding tools, over a workshop that no server has.

use super::*;

fn card(server: &str, name: &str, description: &str) -> ToolCard {
    ToolCard { server: server.into(), name: name.into(), description: description.into(), parameters: Vec::new() }
}

fn workshop() -> Vec<ToolCard> {
    let mut tools = vec![
        card("camera", "take_still", "Takes a still image with the camera. It is stored on the card."),
        card("camera", "start_recording", "Starts to record a video."),
        card("oven", "setTemperature", "Sets the temperature of the oven in degrees."),
        card("oven", "open_door", "Opens the door."),
        card("garden", "remove_plant", "Removes one plant from a bed."),
        card("garden", "list_plants", "Lists the plants of all beds."),
        card("ledger", "book_expense", "Books an expense to an account."),
    ];
    tools[6].parameters.push(("currency".into(), "Three letters, such as EUR".into()));
    tools
}

/// Checks which tool comes first.
fn check(request: &str, expected: &str) {
    let tools = workshop();
    let found = find(&tools, request, 3);
    let names: Vec<&str> = found.iter().map(|place| tools[*place].name.as_str()).collect();
    assert_eq!(names.first(), Some(&expected), "{request}: {names:?}");
    assert!(names.len() <= 3);
}

#[test]
fn words_of_names_descriptions_and_parameters_find_a_tool() {
    check("take_still", "take_still");
    check("temperature", "setTemperature");
    check("listing plants", "list_plants");
    check("which currency", "book_expense");
}

#[test]
fn other_words_for_the_same_find_a_tool() {
    check("take a photo", "take_still");
    check("delete a flower", "remove_plant");
    check("how hot is the oven", "setTemperature");
}

#[test]
fn parts_of_names_and_beginnings_of_words_find_a_tool() {
    check("set the temperature", "setTemperature");
    check("currencies", "book_expense");
    check("temp", "setTemperature");
}

#[test]
fn the_name_of_a_product_counts_once() {
    let spellings = |text| terms::of(text).into_iter().map(|term| term.spelling).collect::<Vec<_>>();
    assert_eq!(spellings("GitHub PRs"), ["github", "prs"]);
    assert_eq!(spellings("createPullRequest"), ["create", "pull", "request", "createpullrequest"]);
}

#[test]
fn the_server_decides_between_similar_tools() {
    let tools = [card("oven", "open_door", "Opens the door."), card("garage", "open_door", "Opens the door.")];
    assert_eq!(find(&tools, "open the garage", 1), [1]);
    assert_eq!(find(&tools, "open the oven", 1), [0]);
}

#[test]
fn equal_tools_stay_in_order_and_none_comes_twice() {
    let tools = vec![card("a", "same", "The same tool."); 5];
    assert_eq!(find(&tools, "same tool", 3), [0, 1, 2]);
}

#[test]
fn any_text_is_a_request_and_any_text_a_card() {
    let long = "plant \u{202e}\u{1b}[31m 検索機能 🙂 ".repeat(50_000);
    let mut tools = workshop();
    tools.push(card("", "", ""));
    tools.push(card(&long, &long, &long));
    tools.push(ToolCard { parameters: vec![(long.clone(), long.clone()); 100], ..card("x", "y", "z") });
    let finder = Finder::new(&tools);
    for request in ["", " ", "?!", "🙂", "\u{0}", "検索", "the", &long] {
        assert!(finder.find(request, 100).len() <= tools.len(), "{request:.20}");
    }
    assert!(finder.find("", 5).is_empty());
    assert_eq!(Finder::new(&[]).find("anything", 5), Vec::<usize>::new());
    assert!(finder.find("plant", 0).is_empty());
}

#[test]
fn a_long_description_does_not_win_by_its_length() {
    let mut tools = workshop();
    tools.push(card("shop", "buy", &format!("Buys things. {}", "list the plants of all beds ".repeat(10_000))));
    assert_eq!(find(&tools, "list plants", 1), [5]);
}
