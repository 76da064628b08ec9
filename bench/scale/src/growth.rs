//! What a team of a given size needs and roughly costs: arithmetic on the inputs, nothing simulated.

use serde::Serialize;

use crate::inputs::Inputs;

const DAY: f64 = 86_400.0;
/// How busy a core may be at the peak.
const MAX_BUSY: f64 = 0.5;
/// How full a disk may be.
const MAX_FULL: f64 = 0.7;
/// Copies of the log: the primary, a synchronous replica, and what backups keep.
const LOG_COPIES: f64 = 3.0;
/// Copies of the index that serve: two servers have one each.
const INDEX_COPIES: f64 = 2.0;
/// Up to how many developers one server with one folder is enough.
const MAX_FOLDER_DEVELOPERS: f64 = 20.0;

/// What a size needs.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Need {
    pub(crate) developers: f64,
    pub(crate) entries: f64,
    pub(crate) log_gb: f64,
    pub(crate) index_gb: f64,
    pub(crate) texts_gb: f64,
    pub(crate) appends_per_second: f64,
    pub(crate) searches_per_second: f64,
    /// Cores that the work itself takes at the peak, by its measured CPU time.
    pub(crate) busy_cores: f64,
    /// Cores to run: at most half busy, and four machines of two cores where there is a database.
    pub(crate) cores: f64,
    /// Nodes for the log, by their disks.
    pub(crate) log_nodes: f64,
    pub(crate) dollars_per_month: f64,
}

/// Returns what a number of developers needs after all the days that are kept.
pub(crate) fn need(inputs: &Inputs, developers: f64) -> Need {
    let entries = developers * inputs.records_per_developer_day.value * inputs.days_kept.value;
    let gb = |bytes: f64| entries * bytes / 1e9;
    let peak = |per_day: f64| developers * per_day * inputs.peak_factor.value / DAY;
    let appends = peak(inputs.records_per_developer_day.value);
    let searches = peak(inputs.searches_per_developer_day.value);
    let uploads = appends / inputs.upload_rows.value;
    let per_row = (inputs.append_cpu_us_per_row.value + inputs.index_cpu_us_per_row.value * INDEX_COPIES) / 1e6;
    let requests = (uploads + searches) * inputs.request_cpu_us.value / 1e6;
    let busy_cores = appends * per_row + searches * inputs.search_cpu_ms.value / 1e3 + requests;
    let in_folder = developers <= MAX_FOLDER_DEVELOPERS;
    let (log_gb, index_gb) = (gb(inputs.log_bytes_per_entry.value), gb(inputs.index_bytes_per_entry.value));
    let texts_gb = gb(inputs.text_bytes_per_entry.value);
    let log_nodes = if in_folder { 0.0 } else { (log_gb / (inputs.node_disk_gb.value * MAX_FULL)).ceil() };
    // A folder needs a part of a machine that runs anyway; a database, its replica and two servers need two cores each.
    let least = if in_folder { 1.0 } else { 8.0 };
    let replicated = log_nodes.max(1.0) * 2.0 * inputs.node_cores.value;
    let for_log = if log_nodes > 1.0 { replicated } else { 0.0 };
    let cores = (busy_cores / MAX_BUSY).ceil().max(least) + for_log;
    let disks = log_gb * LOG_COPIES + index_gb * INDEX_COPIES;
    let dollars_per_month = cores * inputs.core_dollars_per_month.value
        + disks / MAX_FULL * inputs.disk_dollars_per_gb_month.value
        + texts_gb * inputs.object_dollars_per_gb_month.value;
    Need {
        developers,
        entries,
        log_gb,
        index_gb,
        texts_gb,
        appends_per_second: appends,
        searches_per_second: searches,
        busy_cores,
        cores,
        log_nodes,
        dollars_per_month,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::TEXT;

    #[test]
    fn bytes_and_rates_grow_with_the_number_of_developers() {
        let inputs = Inputs::parse(TEXT).unwrap();
        let (small, large) = (need(&inputs, 100.0), need(&inputs, 1_000.0));
        for (small, large) in [
            (small.entries, large.entries),
            (small.log_gb, large.log_gb),
            (small.searches_per_second, large.searches_per_second),
            (small.busy_cores, large.busy_cores),
        ] {
            assert!((large / small - 10.0).abs() < 1e-9);
        }
        assert!(large.dollars_per_month >= small.dollars_per_month);
    }

    #[test]
    fn a_million_developers_have_ten_billion_entries() {
        let need = need(&Inputs::parse(TEXT).unwrap(), 1e6);
        assert!((need.entries - 1e10).abs() < 1.0);
        assert!((need.log_gb - 8_920.0).abs() < 1.0);
    }
}
