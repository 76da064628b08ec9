//! The prices of tokens. Prices are dated data: built in, and extended or replaced by a file of the user's.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use weir_clients::transcript::Usage;
use weir_host::env::Paths;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::foreign;

const BUILT_IN: &str = include_str!("prices.toml");

/// Returns the user's own price file next to the configuration, if there is one.
pub fn user_file(paths: &Paths) -> Option<PathBuf> {
    let own = paths.config.with_file_name("prices.toml");
    own.exists().then_some(own)
}

/// Returns the built-in prices of a model, if it is listed. Only its part of the table is parsed.
pub fn built_in_rates(model: &str) -> Option<Rates> {
    let part = BUILT_IN.split("[[model]]").skip(1).find(|part| lists(part, model))?;
    toml::from_str::<Price>(part).ok().map(|price| price.rates())
}

fn lists(part: &str, model: &str) -> bool {
    let names = part.split_once("names = [").and_then(|(_, rest)| rest.split_once(']')).map_or("", |(names, _)| names);
    // Every second piece is between quotes.
    names.split('"').skip(1).step_by(2).any(|name| is_named(model, name))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    pub date: String,
    /// Whether the built-in prices apply too.
    #[serde(default = "yes")]
    built_in: bool,
    /// The price of a model that is not listed, in multiples of its input.
    #[serde(default = "relative")]
    fallback: Price,
    #[serde(default, rename = "model")]
    models: Vec<Price>,
}

/// US dollars for a million tokens, or multiples of the input's price.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Price {
    #[serde(default)]
    names: Vec<String>,
    input: f64,
    output: f64,
    cache_read: f64,
    /// Defaults to the price of input.
    cache_write: Option<f64>,
    /// Defaults to the price of any other cache write.
    cache_write_hour: Option<f64>,
}

fn yes() -> bool {
    true
}

/// Returns the ratios that providers have in common.
fn relative() -> Price {
    let (cache_write, cache_write_hour) = (Some(1.25), None);
    Price { names: Vec::new(), input: 1.0, output: 5.0, cache_read: 0.1, cache_write, cache_write_hour }
}

/// The prices of a model's tokens, in multiples of its input price.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    pub write: f64,
    /// Writing to a cache that lasts an hour.
    pub write_hour: f64,
    pub read: f64,
    pub output: f64,
    /// The price of one token of input in US dollars, if known.
    pub dollars: Option<f64>,
}

impl Rates {
    /// Returns the cost of a request, in tokens of input.
    pub fn cost(&self, used: &Usage) -> f64 {
        used.input as f64
            + used.cache_write as f64 * self.write
            + used.cache_write_hour as f64 * self.write_hour
            + used.cache_read as f64 * self.read
            + used.output as f64 * self.output
    }

    /// Returns the average price of a token in these requests that was not read from a cache.
    pub fn written(&self, requests: &[Usage]) -> f64 {
        let sum = |of: fn(&Usage) -> u64| requests.iter().map(of).sum::<u64>() as f64;
        let new = [sum(|used| used.input), sum(|used| used.cache_write), sum(|used| used.cache_write_hour)];
        let all: f64 = new.iter().sum();
        let cost = new[0] + new[1] * self.write + new[2] * self.write_hour;
        if all > 0.0 { cost / all } else { self.write }
    }
}

impl Prices {
    /// Reads the prices of a file, which take precedence over the built-in ones. Without a file, returns the built-in
    /// prices.
    pub fn read(file: Option<&Path>) -> Result<Self, CommandError> {
        let built_in = Self::parse(BUILT_IN).map_err(|problem| CommandError::broken(&problem))?;
        let Some(path) = file else { return Ok(built_in) };
        let cannot = |problem: &str| {
            CommandError::new(ErrorKind::Config, format!("cannot use the prices in {}: {problem}", path.display()))
                .hint("docs/replay.md has an example")
        };
        let bytes =
            foreign::read_user_file(path, foreign::MAX_SETTINGS_BYTES).map_err(|error| cannot(&error.to_string()))?;
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

    pub fn of(&self, model: &str) -> Rates {
        let named = |price: &&Price| price.names.iter().any(|name| is_named(model, name));
        let found = self.models.iter().find(named);
        found.map_or_else(|| Rates { dollars: None, ..self.fallback.rates() }, Price::rates)
    }
}

impl Price {
    fn rates(&self) -> Rates {
        let write = self.cache_write.unwrap_or(self.input);
        Rates {
            write: write / self.input,
            write_hour: self.cache_write_hour.unwrap_or(write) / self.input,
            read: self.cache_read / self.input,
            output: self.output / self.input,
            dollars: Some(self.input / 1e6),
        }
    }
}

/// Whether a model has this name, regardless of its provider, its date and its window.
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
    fn a_part_of_the_table_says_what_the_whole_table_says() {
        let prices = Prices::read(None).unwrap();
        let names: Vec<&String> = prices.models.iter().flat_map(|price| &price.names).collect();
        assert!(names.len() > 30, "{names:?}");
        for name in names {
            assert_eq!(built_in_rates(name), Some(prices.of(name)), "{name}");
        }
        assert_eq!(built_in_rates("claude-opus-4-5-20251101"), Some(prices.of("claude-opus-4-5")));
        assert_eq!(built_in_rates("unknown"), None);
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
