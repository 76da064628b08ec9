//! Replays sessions with other settings, to name those that would have saved more. Invariant: a setting is named only if
//! a replay with it shows it.

use std::collections::BTreeMap;

use toml_edit::{DocumentMut, Item, value};
use weir_context::Context;
use weir_core::wording::counted;
use weir_host::config::{self, Config};
use weir_host::error::CommandError;
use weir_store::private;

use super::figures::Lever;
use super::places::TranscriptLocation;
use super::report::table::signed;
use super::report::{ReplayReport, ReplayedSession};
use super::{Stage, cannot_use};

/// The smallest gain that is worth a change, as a part of the price of all sessions.
const MIN_GAIN: f64 = 0.005;
const MAX_NAMED_SETTINGS: usize = 3;

/// Another value of a setting below `[hold]`.
struct Trial {
    setting: &'static str,
    value: Item,
    reach: Reach,
}

/// Which sessions another value can make a difference to.
enum Reach {
    /// Those with a replaced result of a size up to this, in tokens: the limit is raised.
    Touched(u64),
    /// Those with a result of a size between these that was left alone: the limit is lowered.
    Other(u64, u64),
    /// Those in which lines were left out.
    Repeats,
}

impl Reach {
    fn includes(&self, played: &ReplayedSession) -> bool {
        let judged = &played.judged;
        match self {
            Self::Touched(most) => judged.touched_sizes.iter().any(|size| size <= most),
            Self::Other(least, most) => judged.other_sizes.iter().any(|size| (least..=most).contains(&size)),
            Self::Repeats => judged.levers.contains_key(&Lever::SeenBefore),
        }
    }

    /// Whether another value can have saved anything in a session. Showing more saves only what was asked for again.
    fn can_gain(&self, played: &ReplayedSession) -> bool {
        let judged = &played.judged;
        match self {
            Self::Touched(most) => judged.unseen.iter().any(|unseen| unseen.tokens.0 <= *most),
            Self::Other(..) => self.includes(played),
            Self::Repeats => judged.levers.get(&Lever::SeenBefore).is_some_and(|figures| figures.again > 0),
        }
    }
}

/// What a setting would have changed.
struct Outcome {
    /// The setting, as in the configuration.
    line: String,
    /// The additional savings, in tokens of input.
    gain: f64,
    /// How many more names that were used later it would have hidden.
    hidden: i64,
}

/// Says which settings are worth a change. Returns nothing if none was tried, because no price is known or no setting
/// would make a difference.
pub(super) fn advice(
    context: &Context,
    stage: &Stage<'_>,
    found: &[TranscriptLocation],
    report: &ReplayReport,
) -> Result<Vec<String>, CommandError> {
    let cost: f64 = report.sessions.iter().map(|played| played.judged.cost).sum();
    let Ok(current) = config::read(stage.config) else { return Ok(Vec::new()) };
    if cost <= 0.0 {
        return Ok(Vec::new());
    }
    let (mut tried, mut gains) = (0_usize, Vec::new());
    for trial in trials(&current) {
        let reached: Vec<&ReplayedSession> =
            report.sessions.iter().filter(|played| played.judged.has_cost() && trial.reach.includes(played)).collect();
        if !reached.iter().any(|played| trial.reach.can_gain(played)) {
            continue;
        }
        tried += 1;
        context.report_progress(&format!("trying {} = {}", trial.setting, shown(&trial.value)));
        let outcome = outcome(stage, &trial, found, &reached)?;
        gains.extend(Some(outcome).filter(|outcome| outcome.gain >= MIN_GAIN * cost));
    }
    if tried == 0 {
        return Ok(Vec::new());
    }
    gains.sort_by(|one, other| other.gain.total_cmp(&one.gain));
    let tried = counted(tried, "other setting was", "other settings were");
    if gains.is_empty() {
        return Ok(vec![format!("{tried} tried on these sessions; none would have saved at least 0.5 % more.")]);
    }
    let line = |outcome: &Outcome| {
        format!("  {:<28}  {}{}", outcome.line, signed(outcome.gain / cost), hidden(outcome.hidden))
    };
    let mut lines =
        vec![format!("Settings worth changing, in [hold] (`weir config edit`); {tried} tried on these sessions:")];
    lines.extend(gains.iter().take(MAX_NAMED_SETTINGS).map(line));
    Ok(lines)
}

fn hidden(hidden: i64) -> String {
    let names = |count: i64| counted(usize::try_from(count).unwrap_or(0), "name", "names");
    match hidden {
        0 => " of the price".to_owned(),
        more @ 1.. => format!(" of the price, with {} more hidden", names(more)),
        fewer => format!(" of the price, with {} fewer hidden", names(-fewer)),
    }
}

/// Returns the values to try: limits at half and at twice of what they are.
fn trials(current: &Config) -> Vec<Trial> {
    let hold = &current.hold;
    let limits = [
        ("asked_tokens", hold.asked_tokens),
        ("unclear_tokens", hold.unclear_tokens),
        ("by_product_tokens", hold.by_product_tokens),
        ("flood_tokens", hold.flood_tokens),
    ];
    let mut trials = Vec::new();
    for (setting, limit) in limits {
        let size = |tokens: usize| u64::try_from(tokens).unwrap_or(u64::MAX);
        let item = |tokens: usize| value(i64::try_from(tokens).unwrap_or(i64::MAX));
        let (half, twice) = (limit / 2, limit * 2);
        if half >= MIN_LIMIT {
            trials.push(Trial { setting, value: item(half), reach: Reach::Other(size(half), size(limit)) });
        }
        trials.push(Trial { setting, value: item(twice), reach: Reach::Touched(size(twice)) });
    }
    if hold.repeats {
        trials.push(Trial { setting: "repeats", value: value(false), reach: Reach::Repeats });
    }
    trials
}

/// The lowest limit that the configuration accepts.
const MIN_LIMIT: usize = 1_000;

fn shown(value: &Item) -> String {
    value.to_string().trim().to_owned()
}

/// Replays these sessions with another value.
fn outcome(
    stage: &Stage<'_>,
    trial: &Trial,
    found: &[TranscriptLocation],
    reached: &[&ReplayedSession],
) -> Result<Outcome, CommandError> {
    let config = stage.scratch.join("config.toml");
    let text = config::text(stage.config)?;
    let mut document: DocumentMut = text.parse().unwrap_or_default();
    document["hold"][trial.setting] = trial.value.clone();
    private::open(&config, private::options().truncate(true))
        .and_then(|mut file| std::io::Write::write_all(&mut file, document.to_string().as_bytes()))
        .map_err(|error| cannot_use(&config, &error))?;
    let stage = Stage { config: &config, ..*stage };
    let mut outcome = Outcome { line: format!("{} = {}", trial.setting, shown(&trial.value)), gain: 0.0, hidden: 0 };
    let mut by_transcript: BTreeMap<usize, Vec<&ReplayedSession>> = BTreeMap::new();
    reached.iter().for_each(|played| by_transcript.entry(played.source.transcript).or_default().push(played));
    for (transcript, sessions) in by_transcript {
        let Some(found) = found.get(transcript) else { continue };
        let Ok(Some(mut read)) = found.read() else { continue };
        for played in sessions {
            let Some(session) = read.sessions.get_mut(played.source.session) else { continue };
            session.copied = played.source.copied;
            let judged = stage.judge(found, session, &played.name)?;
            outcome.gain += judged.net() - played.judged.net();
            let unseen = |figures: u64| i64::try_from(figures).unwrap_or(i64::MAX);
            outcome.hidden += unseen(judged.all.unseen) - unseen(played.judged.all.unseen);
        }
    }
    Ok(outcome)
}
