//! The one form in which benches print: a Markdown table, then `geomean` and `worst`.

use crate::process::geomean;
use std::path::Path;

/// Rows of named figures, each with one ratio (ours over the peer).
pub struct Table {
    title: String,
    columns: Vec<String>,
    rows: Vec<(String, Vec<f64>, f64)>,
}

impl Table {
    /// An empty table; `columns` name the figures, the ratio comes last by itself.
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

    /// The geometric mean of the ratios.
    pub fn geomean(&self) -> f64 {
        geomean(self.rows.iter().map(|r| r.2))
    }

    /// Prints the table without the closing lines.
    pub fn print(&self) {
        println!("\n{}\n", self.title);
        println!("| | {} | ratio |", self.columns.join(" | "));
        println!("|---|{}---|", "---|".repeat(self.columns.len()));
        for (name, figures, ratio) in &self.rows {
            let figures: Vec<String> = figures.iter().map(|f| format!("{f:.4}")).collect();
            println!("| {name} | {} | {ratio:.3} |", figures.join(" | "));
        }
    }

    /// Prints everything; `worst` adds the line for constructs.
    pub fn finish(&self, worst: bool, json: Option<&Path>) -> Result<(), String> {
        self.print();
        let worst_ratio = self
            .rows
            .iter()
            .map(|r| r.2)
            .fold(f64::NEG_INFINITY, f64::max);
        if let Some(file) = json {
            let value = serde_json::json!({
                "title": self.title,
                "columns": self.columns,
                "rows": self.rows.iter().map(|(name, figures, ratio)| serde_json::json!({
                    "name": name, "figures": figures, "ratio": ratio,
                })).collect::<Vec<_>>(),
                "geomean": self.geomean(),
                "worst": worst_ratio,
            });
            std::fs::write(file, format!("{value:#}\n"))
                .map_err(|e| format!("{}: {e}", file.display()))?;
        }
        println!();
        if worst {
            println!("worst {worst_ratio:.3}");
        }
        println!("geomean {:.3}", self.geomean());
        Ok(())
    }
}
