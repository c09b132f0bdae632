//! The output format of benchmarks: a Markdown table, then `geomean` and `worst`.

use crate::process::geomean;
use std::path::Path;

/// Rows of named values, each with a ratio (ours over the peer).
pub struct Table {
    title: String,
    columns: Vec<String>,
    rows: Vec<(String, Vec<f64>, f64)>,
}

impl Table {
    /// Creates an empty table. `columns` names the values; the ratio becomes the last column.
    pub fn new(title: &str, columns: &[&str]) -> Self {
        Table {
            title: title.to_owned(),
            columns: columns.iter().map(|&c| c.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, name: &str, figures: &[f64], ratio: f64) {
        self.rows.push((name.to_owned(), figures.to_vec(), ratio));
    }

    /// Returns the geometric mean of the ratios.
    pub fn geomean(&self) -> f64 {
        geomean(self.rows.iter().map(|r| r.2))
    }

    /// Prints the table without its closing lines.
    pub fn print(&self) {
        println!("\n{}\n", self.title);
        println!("| | {} | ratio |", self.columns.join(" | "));
        println!("|---|{}---|", "---|".repeat(self.columns.len()));
        for (name, figures, ratio) in &self.rows {
            let figures: Vec<String> = figures
                .iter()
                .zip(&self.columns)
                .map(|(f, column)| format_value(*f, column))
                .collect();
            println!("| {name} | {} | {ratio:.3} |", figures.join(" | "));
        }
    }

    /// Returns the largest ratio.
    fn worst(&self) -> f64 {
        self.rows
            .iter()
            .map(|r| r.2)
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// Returns the table as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "title": self.title,
            "columns": self.columns,
            "rows": self.rows.iter().map(|(name, figures, ratio)| serde_json::json!({
                "name": name, "figures": figures, "ratio": ratio,
            })).collect::<Vec<_>>(),
            "geomean": self.geomean(),
            "worst": self.worst(),
        })
    }

    /// Prints the table and its closing lines and writes JSON; `worst` adds the largest ratio.
    pub fn finish(&self, worst: bool, json: Option<&Path>) -> Result<(), String> {
        self.print();
        let worst_ratio = self.worst();
        if let Some(file) = json {
            write_json(file, &self.json())?;
        }
        println!();
        if worst {
            println!("worst {worst_ratio:.3}");
        }
        println!("geomean {:.3}", self.geomean());
        Ok(())
    }
}

/// Formats a value with the precision of its column's unit.
fn format_value(figure: f64, column: &str) -> String {
    match column.rsplit_once(", ").map(|c| c.1) {
        _ if figure.is_nan() => "-".to_owned(),
        Some("MB") => format!("{figure:.1}"),
        Some("ms") => format!("{figure:.2}"),
        Some("s") => format!("{figure:.4}"),
        _ => format!("{figure:.3}"),
    }
}

/// Writes indented JSON.
pub fn write_json(file: &Path, value: &serde_json::Value) -> Result<(), String> {
    std::fs::write(file, format!("{value:#}\n")).map_err(|e| format!("{}: {e}", file.display()))
}
