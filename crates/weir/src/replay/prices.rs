//! What tokens cost. Prices are dated data: built in, and added to or replaced by a file of the user's.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use weir_clients::transcript::Usage;

use crate::env::Paths;
use crate::error::{CommandError, ErrorKind};
use crate::foreign;

/// The prices inside the program.
const BUILT_IN: &str = include_str!("prices.toml");

/// The file of the user's own with prices, beside the configuration, if there is one.
pub(crate) fn of_user(paths: &Paths) -> Option<PathBuf> {
    let own = paths.config.with_file_name("prices.toml");
    own.exists().then_some(own)
}

/// A table of prices.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Prices {
    /// The day for which it is right.
    pub date: String,
    /// Whether the prices inside the program count too.
    #[serde(default = "yes")]
    built_in: bool,
    /// What a model costs that has no price, in multiples of its input.
    #[serde(default = "relative")]
    fallback: Price,
    #[serde(default, rename = "model")]
    models: Vec<Price>,
}

/// US dollars for a million tokens, or multiples of the input's price.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Price {
    /// The models that it is the price of.
    #[serde(default)]
    names: Vec<String>,
    input: f64,
    output: f64,
    cache_read: f64,
    /// As input, unless it is said.
    cache_write: Option<f64>,
    /// As any other write, unless it is said.
    cache_write_hour: Option<f64>,
}

fn yes() -> bool {
    true
}

/// What clients' makers have in common.
fn relative() -> Price {
    let (cache_write, cache_write_hour) = (Some(1.25), None);
    Price { names: Vec::new(), input: 1.0, output: 5.0, cache_read: 0.1, cache_write, cache_write_hour }
}

/// What tokens of a model cost, in multiples of its input's price.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rates {
    /// What is written to a cache.
    pub write: f64,
    /// What is written to a cache for an hour.
    pub write_hour: f64,
    /// What is read from a cache.
    pub read: f64,
    /// What the model writes.
    pub output: f64,
    /// What one token of input costs in US dollars, where that is known.
    pub dollars: Option<f64>,
}

impl Rates {
    /// What a request cost, in tokens of input.
    pub(crate) fn cost(&self, used: &Usage) -> f64 {
        used.input as f64
            + used.cache_write as f64 * self.write
            + used.cache_write_hour as f64 * self.write_hour
            + used.cache_read as f64 * self.read
            + used.output as f64 * self.output
    }

    /// What writing one token to the cache cost in these requests on average.
    pub(crate) fn written(&self, requests: &[Usage]) -> f64 {
        let sum = |of: fn(&Usage) -> u64| requests.iter().map(of).sum::<u64>() as f64;
        let (plain, hour) = (sum(|used| used.cache_write), sum(|used| used.cache_write_hour));
        if plain + hour > 0.0 { (plain * self.write + hour * self.write_hour) / (plain + hour) } else { self.write }
    }
}

impl Prices {
    /// The prices of a file, and below them those inside the program. Without a file, the latter alone.
    pub(crate) fn read(file: Option<&Path>) -> Result<Self, CommandError> {
        let built_in = Self::parse(BUILT_IN).map_err(|problem| CommandError::broken(&problem))?;
        let Some(path) = file else { return Ok(built_in) };
        let cannot = |problem: &str| {
            CommandError::new(ErrorKind::Config, format!("cannot use the prices in {}: {problem}", path.display()))
                .hint("docs/replay.md has an example")
        };
        let bytes = foreign::of_user(path, foreign::SETTINGS).map_err(|error| cannot(&error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| cannot("it is not UTF-8"))?;
        let mut own = Self::parse(&text).map_err(|problem| cannot(&problem))?;
        if own.built_in {
            own.models.extend(built_in.models);
        }
        Ok(own)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let table: Self = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        for price in table.models.iter().chain([&table.fallback]) {
            let all = [
                Some(price.input),
                Some(price.output),
                Some(price.cache_read),
                price.cache_write,
                price.cache_write_hour,
            ];
            if all.into_iter().flatten().any(|price| !price.is_finite() || price < 0.0) || price.input == 0.0 {
                return Err("prices must be at least 0, and the input price must be above 0".to_owned());
            }
        }
        Ok(table)
    }

    /// What tokens of a model cost.
    pub(crate) fn of(&self, model: &str) -> Rates {
        let named = |price: &&Price| price.names.iter().any(|name| is_named(model, name));
        let found = self.models.iter().find(named);
        let price = found.unwrap_or(&self.fallback);
        let write = price.cache_write.unwrap_or(price.input);
        Rates {
            write: write / price.input,
            write_hour: price.cache_write_hour.unwrap_or(write) / price.input,
            read: price.cache_read / price.input,
            output: price.output / price.input,
            dollars: found.map(|price| price.input / 1e6),
        }
    }
}

/// Whether a model has this name, apart from who provides it, its date and its window.
fn is_named(model: &str, name: &str) -> bool {
    let model = model.rsplit('/').next().unwrap_or(model);
    let Some(rest) = model.strip_prefix(name) else { return false };
    let rest = rest.strip_suffix("[1m]").unwrap_or(rest);
    let rest = rest.strip_prefix(['-', '@']).unwrap_or(rest);
    rest.is_empty() || (rest.bytes().filter(u8::is_ascii_digit).count() == 8 && !rest.contains(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_known_by_its_name_whatever_its_date() {
        let prices = Prices::read(None).unwrap();
        let dollars = |model| prices.of(model).dollars.map(|dollars| (dollars * 1e6).round());
        assert_eq!(dollars("claude-opus-4-5-20251101"), Some(5.0));
        assert_eq!(dollars("anthropic/claude-opus-4-5@20251101"), Some(5.0));
        assert_eq!(dollars("claude-opus-5-5"), Some(4.0));
        assert_eq!(dollars("claude-opus-5[1m]"), Some(5.0));
        assert_eq!(dollars("claude-opus-5-turbo"), None);
        assert_eq!(dollars(""), None);
    }

    #[test]
    fn a_model_without_a_price_has_relative_ones() {
        let rates = Prices::read(None).unwrap().of("unknown");
        assert_eq!((rates.write, rates.write_hour, rates.read, rates.output), (1.25, 1.25, 0.1, 5.0));
        let used = Usage { input: 1, cache_write: 100, cache_write_hour: 0, cache_read: 1000, output: 10 };
        assert_eq!(rates.cost(&used), 1.0 + 125.0 + 100.0 + 50.0);
    }

    #[test]
    fn a_file_adds_to_the_prices_or_replaces_them() {
        let place = tempfile::tempdir().unwrap();
        let check = |text: &str| {
            let path = place.path().join("prices.toml");
            std::fs::write(&path, text).unwrap();
            Prices::read(Some(&path)).map(|prices| [prices.of("mine").dollars, prices.of("gpt-5.2").dollars])
        };
        let own = "date = \"2026-01-01\"\n[[model]]\nnames = [\"mine\"]\ninput = 3\noutput = 9\ncache_read = 1\n";
        assert_eq!(check(own).unwrap(), [Some(3e-6), Some(1.75e-6)]);
        assert_eq!(check(&format!("built_in = false\n{own}")).unwrap(), [Some(3e-6), None]);
        assert!(check(&own.replace("= 3", "= 0")).is_err() && check("x = 1").is_err());
    }
}
