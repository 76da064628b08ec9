//! The figures that the model starts from. Invariant: each has a sort, a date and a source; a figure that the model
//! does not know, or that is missing, is an error.

use serde::{Deserialize, Serialize};

/// The file with the figures, as it was when this program was built.
pub(crate) const TEXT: &str = include_str!("../inputs.toml");

/// One figure.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figure {
    pub(crate) value: f64,
    pub(crate) sort: Sort,
    pub(crate) date: String,
    pub(crate) source: String,
}

/// How a figure came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Sort {
    Measured,
    Assumed,
    Price,
}

/// Declares the figures: their names in the file are those of the fields.
macro_rules! figures {
    ($($name:ident),+ $(,)?) => {
        /// All figures.
        #[derive(Debug, Clone, Deserialize, Serialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct Inputs {
            $(pub(crate) $name: Figure,)+
        }

        impl Inputs {
            /// Returns the figures with their names, in the order of the file.
            pub(crate) fn all(&self) -> Vec<(&'static str, &Figure)> {
                vec![$((stringify!($name), &self.$name)),+]
            }
        }
    };
}

figures! {
    log_bytes_per_entry, index_bytes_per_entry, text_bytes_per_entry,
    append_cpu_us_per_row, index_cpu_us_per_row, search_cpu_ms, request_cpu_us,
    records_per_developer_day, searches_per_developer_day, peak_factor, days_kept,
    largest_tenant_share, upload_rows, node_cores, node_disk_gb, copy_mb_per_second,
    lease_seconds, promotion_seconds,
    core_dollars_per_month, disk_dollars_per_gb_month, object_dollars_per_gb_month,
}

impl Inputs {
    /// Reads the figures, and refuses those that no model can use.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let inputs: Self = toml::from_str(text).map_err(|error| format!("cannot read the inputs: {error}"))?;
        for (name, figure) in inputs.all() {
            if !figure.value.is_finite() || figure.value <= 0.0 {
                return Err(format!("cannot use the input `{name}`: {} is not above 0", figure.value));
            }
            if figure.source.trim().is_empty() || figure.date.trim().is_empty() {
                return Err(format!("cannot use the input `{name}`: it has no source or no date"));
            }
        }
        if inputs.largest_tenant_share.value >= 1.0 {
            return Err("cannot use the input `largest_tenant_share`: it is not below 1".into());
        }
        Ok(inputs)
    }

    /// Returns how many rows a database node appends in a second at most.
    pub(crate) fn node_rows_per_second(&self) -> f64 {
        self.node_cores.value * 1e6 / self.append_cpu_us_per_row.value
    }

    /// Returns how many rows a core indexes in a second at most.
    pub(crate) fn index_rows_per_second(&self) -> f64 {
        1e6 / self.index_cpu_us_per_row.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_complete_and_each_figure_has_its_source() {
        assert_eq!(Inputs::parse(TEXT).unwrap().all().len(), 21);
    }

    #[test]
    fn a_figure_that_no_model_can_use_is_refused() {
        let broken = [
            TEXT.replace("value = 892", "value = 0"),
            TEXT.replace("value = 892", "value = nan"),
            TEXT.replace("value = 0.08", "value = 1"),
            TEXT.replace("[log_bytes_per_entry]", "[log_bytes]"),
            TEXT.replace("sort = \"price\"", "sort = \"guess\""),
            format!("{TEXT}\n[another]\nvalue = 1\nsort = \"assumed\"\ndate = \"x\"\nsource = \"y\"\n"),
        ];
        for text in broken {
            assert!(Inputs::parse(&text).is_err());
        }
    }
}
