//! Bytes that each rank receives when a region runs on 2 to 1,024 ranks, by simulation with the
//! footprints and directories of real runs, against a program that is written with MPI by hand.
//!
//! The argument is the device bitcode of `kernels.c`. Words of a launch follow the launch environment,
//! in the order in which a region names its variables. A step is repeated; the first steps, in which
//! the arrays that the host wrote come to where they are used, do not count. What a rank of the
//! hand-written program receives is computed from the problem:
//!
//! - stencil, divided by rows: one row from each neighbor;
//! - n-body: the positions of all other bodies;
//! - CG, divided by rows: the elements of the vector that belong to others.

use ompvm_llvm::Input;
use ompvm_llvm::nvptx::footprint::Footprint;
use ompvm_llvm::nvptx::{self, LoweringRequest, MathLibrary};
use ompvm_offload::group::volume::Simulation;
use std::collections::HashMap;

/// Numbers of ranks.
const RANKS: [usize; 6] = [2, 4, 16, 64, 256, 1024];
/// Threads of a block.
const THREADS: u32 = 128;
/// Steps that do not count, and steps that do.
const WARM: usize = 2;
const STEPS: usize = 2;

fn main() -> Result<(), String> {
    let file = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let file = file.ok_or("name the device bitcode of bench/ranks/kernels.c")?;
    let footprints = footprints(&file)?;
    let kernel = |name: &str| {
        let found = footprints.iter().find(|(n, _)| n.contains(name));
        let (_, footprint) = found.ok_or(format!("there is no kernel `{name}`"))?;
        match &footprint.unknown {
            None => Ok(footprint),
            Some(why) => Err(format!("the footprint of `{name}` is unknown: {why}")),
        }
    };
    println!(
        "{:<10}{:>7}{:>16}{:>16}{:>8}",
        "case", "ranks", "simulated", "by hand", "ratio"
    );
    for ranks in RANKS {
        let n = 8192;
        let mut group = Simulation::new(ranks);
        let grids = [group.allocate(8 * n * n), group.allocate(8 * n * n)];
        let stencil = kernel("stencil")?;
        let [a, b] = grids;
        let step = |group: &mut Simulation| {
            let there = group.launch(stencil, &[0, n, b, a], n - 2, THREADS)?;
            let back = group.launch(stencil, &[0, n, a, b], n - 2, THREADS)?;
            Some(add(there, &back))
        };
        report(
            "stencil",
            ranks,
            measure(&mut group, step)?,
            2 * 2 * 8 * (n - 2),
        );

        let n = 65536;
        let mut group = Simulation::new(ranks);
        let (x, v) = (group.allocate(16 * n), group.allocate(16 * n));
        let (forces, moves) = (kernel("forces")?, kernel("moves")?);
        let step = |group: &mut Simulation| {
            let gathered = group.launch(forces, &[0, n, x, v], n, THREADS)?;
            Some(add(
                gathered,
                &group.launch(moves, &[0, n, x, v], n, THREADS)?,
            ))
        };
        report(
            "n-body",
            ranks,
            measure(&mut group, step)?,
            others(16 * n, ranks),
        );

        let n = 150_000;
        let mut group = Simulation::new(ranks);
        let each = [
            4 * (n + 1),
            4 * 15 * n,
            8 * 15 * n,
            8 * n,
            8 * n,
            8 * n,
            8 * n,
        ];
        let [rows, columns, values, p, q, r, z] = each.map(|bytes| group.allocate(bytes));
        let (product, update) = (kernel("product")?, kernel("update")?);
        let step = |group: &mut Simulation| {
            let words = [0, n, rows, values, p, columns, q];
            let gathered = group.launch(product, &words, n, THREADS)?;
            let words = [0, n, z, 0, p, r, q, 0];
            Some(add(gathered, &group.launch(update, &words, n, THREADS)?))
        };
        report(
            "CG",
            ranks,
            measure(&mut group, step)?,
            others(8 * n, ranks),
        );
    }
    Ok(())
}

/// Returns the kernels' footprints by name.
fn footprints(file: &str) -> Result<HashMap<String, Footprint>, String> {
    let bytes = std::fs::read(file).map_err(|e| format!("{file}: {e}"))?;
    let lowered = nvptx::lower(&LoweringRequest {
        units: vec![Input {
            name: file.to_owned(),
            bytes,
        }],
        architecture: 90,
        version: 83,
        math_library: MathLibrary::Missing,
        teams: 0,
        divided: true,
        provided: None,
    })?;
    let kernels = lowered.kernels.into_iter();
    Ok(kernels
        .filter_map(|k| Some((k.name, k.division?.footprint)))
        .collect())
}

/// Returns the bytes that a rank receives in a step, at most.
fn measure(
    group: &mut Simulation,
    mut step: impl FnMut(&mut Simulation) -> Option<Vec<u64>>,
) -> Result<u64, String> {
    let mut sum = Vec::new();
    for n in 0..WARM + STEPS {
        let received = step(group).ok_or("one rank would run the region")?;
        if n >= WARM {
            sum = add(received, &sum);
        }
    }
    Ok(sum.iter().max().copied().unwrap_or(0) / STEPS as u64)
}

fn add(mut sum: Vec<u64>, more: &[u64]) -> Vec<u64> {
    sum.iter_mut()
        .zip(more)
        .for_each(|(sum, more)| *sum += more);
    sum
}

/// Returns the part of an array that belongs to other ranks than one.
fn others(bytes: u64, ranks: usize) -> u64 {
    bytes - bytes / ranks as u64
}

fn report(case: &str, ranks: usize, simulated: u64, by_hand: u64) {
    let ratio = simulated as f64 / by_hand as f64;
    println!("{case:<10}{ranks:>7}{simulated:>16}{by_hand:>16}{ratio:>8.3}");
}
