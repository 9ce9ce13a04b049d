//! A plot of a workload: for each place a bar a tool, wall time on the left, CPU time for a unit of
//! work on the right, both on logarithmic axes.

use std::fmt::Write as _;

use super::figures::{BARE, BARE_FILES, Figures, OURS, Table};
use super::markdown::{place, short};

const ROW: f64 = 18.0;
const BAR: f64 = 13.0;
const NAMES: f64 = 90.0;
const PANEL: f64 = 330.0;
const GAP: f64 = 70.0;
const TOP: f64 = 46.0;
const MARGIN: f64 = 12.0;

const OURS_COLOUR: &str = "#1a7f5a";
const BARE_COLOUR: &str = "#9aa5b1";
const PEER_COLOUR: &str = "#4c78a8";

/// One of the two halves.
struct Panel {
    title: String,
    left: f64,
    pick: fn(&Figures) -> f64,
    /// Powers of ten at both ends.
    from: f64,
    to: f64,
}

impl Panel {
    fn new(table: &Table, title: String, left: f64, pick: fn(&Figures) -> f64) -> Self {
        let rows = table.groups.iter().flat_map(|group| &group.rows);
        let values = rows.filter_map(|row| row.figures.as_ref().map(pick));
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for value in values.filter(|value| *value > 0.0) {
            least = least.min(value);
            most = most.max(value);
        }
        if least > most {
            (least, most) = (1.0, 1.0);
        }
        // Room below the least, so that its bar can be seen.
        let from = (least / 1.5).log10().floor();
        Self { title, left, pick, from, to: most.log10().ceil().max(from + 1.0) }
    }

    fn x(&self, value: f64) -> f64 {
        let part = (value.log10() - self.from) / (self.to - self.from);
        self.left + PANEL * part.clamp(0.0, 1.0)
    }
}

/// The plot as a file's text.
pub(super) fn plot(table: &Table) -> String {
    let panels = [
        Panel::new(table, "wall time, s".to_owned(), NAMES, |figures| figures.wall_s.median),
        Panel::new(table, table.cpu_unit().to_owned(), NAMES + PANEL + GAP, |figures| {
            figures.cpu_each
        }),
    ];
    let (body, bottom) = bars(table, &panels);
    let (width, height) = (NAMES + 2.0 * (PANEL + GAP), bottom + MARGIN + 14.0);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"sans-serif\" font-size=\"11\" fill=\"#333\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let title = format!("{}: {}", table.workload, table.title);
    label(&mut text, MARGIN, 18.0, "start", &title);
    for panel in &panels {
        axis(&mut text, panel, bottom);
    }
    text.push_str(&body);
    text.push_str("</svg>\n");
    text
}

fn axis(text: &mut String, panel: &Panel, bottom: f64) {
    label(text, panel.left, TOP - 10.0, "start", &panel.title);
    let mut power = panel.from;
    while power <= panel.to {
        let x = panel.x(10_f64.powf(power));
        let _ = writeln!(
            text,
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom:.1}\" stroke=\"#e3e6ea\"/>"
        );
        label(text, x, bottom + 14.0, "middle", &tick(power));
        power += 1.0;
    }
}

/// A power of ten in digits.
fn tick(power: f64) -> String {
    let digits = if power < 0.0 { -power } else { 0.0 };
    let value = 10_f64.powf(power);
    // A handful of digits at most: no axis reaches further.
    match digits {
        0.0 => format!("{value:.0}"),
        1.0 => format!("{value:.1}"),
        2.0 => format!("{value:.2}"),
        3.0 => format!("{value:.3}"),
        _ => format!("{value:e}"),
    }
}

/// All bars with their names and figures, and where they end.
fn bars(table: &Table, panels: &[Panel]) -> (String, f64) {
    let (mut text, mut y) = (String::new(), TOP);
    for group in &table.groups {
        y += ROW;
        label(&mut text, MARGIN, y - 5.0, "start", &place(&group.place));
        for row in &group.rows {
            let Some(figures) = &row.figures else { continue };
            label(&mut text, NAMES - 6.0, y + BAR - 3.0, "end", &row.tool);
            for panel in panels {
                bar(&mut text, panel, y, colour(&row.tool), (panel.pick)(figures));
            }
            y += ROW;
        }
    }
    (text, y)
}

fn bar(text: &mut String, panel: &Panel, y: f64, colour: &str, value: f64) {
    let end = panel.x(value);
    let _ = writeln!(
        text,
        "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{BAR}\" fill=\"{colour}\"/>",
        panel.left,
        end - panel.left
    );
    label(text, end + 4.0, y + BAR - 3.0, "start", &short(value));
}

fn colour(tool: &str) -> &'static str {
    match tool {
        OURS => OURS_COLOUR,
        BARE | BARE_FILES => BARE_COLOUR,
        _ => PEER_COLOUR,
    }
}

fn label(text: &mut String, x: f64, y: f64, anchor: &str, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ =
        writeln!(text, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>");
}
