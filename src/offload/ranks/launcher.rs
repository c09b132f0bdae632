//! Recognizes that a launcher of MPI started this process as one of several ranks.
//!
//! Each launcher tells a process its rank and the number of ranks in variables of the environment,
//! which the settings hold. The launcher also lies beside the library that it belongs to, as in an
//! installation that is not among the system's libraries.
//!
//! Loads nothing.

use ompvm_support::settings::Settings;
use std::path::{Path, PathBuf};

/// The way in which a process was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launched {
    /// Rank of the process.
    pub rank: u32,
    /// Number of ranks.
    pub size: u32,
    /// Family of the launcher.
    pub launcher: Launcher,
}

/// A family of launchers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// MPICH's Hydra and others that speak PMI.
    Pmi,
    /// Open MPI's.
    OpenMpi,
    /// `srun` with PMIx, which several libraries understand.
    Slurm,
}

/// Returns how a launcher started this process with other ranks. `None` if there are none.
pub fn detect(settings: &Settings) -> Option<Launched> {
    let known = settings.launcher;
    let of = |launcher, rank: Option<u32>, size: Option<u32>| {
        let (rank, size) = (rank?, size?);
        (size > 1 && rank < size).then_some(Launched {
            rank,
            size,
            launcher,
        })
    };
    // Open MPI's own launcher may run inside of a job of Slurm, and sets PMIx's variables, too.
    of(Launcher::OpenMpi, known.open_mpi.rank, known.open_mpi.size)
        .or_else(|| of(Launcher::Pmi, known.pmi.rank, known.pmi.size))
        .or_else(|| {
            // Without PMIx, Slurm started the process alone, in a batch script for example.
            known.pmix_rank?;
            of(Launcher::Slurm, known.slurm.rank, known.slurm.size)
        })
}

/// Returns the folders of libraries beside the programs that started this process.
pub fn library_folders() -> Vec<PathBuf> {
    const GENERATIONS: usize = 6;
    let mut folders = Vec::new();
    let mut process = std::process::id();
    for _ in 0..GENERATIONS {
        let Some(parent) = parent(process) else {
            break;
        };
        process = parent;
        let Ok(program) = std::fs::read_link(format!("/proc/{process}/exe")) else {
            continue;
        };
        // The loader searches the system's own folders anyway.
        let prefix = program.parent().and_then(Path::parent);
        let Some(prefix) = prefix.filter(|p| *p != Path::new("/") && *p != Path::new("/usr"))
        else {
            continue;
        };
        for name in ["lib", "lib64"] {
            let folder = prefix.join(name);
            if folder.is_dir() && !folders.contains(&folder) {
                folders.push(folder);
            }
        }
    }
    folders
}

/// Returns the process that started another one.
fn parent(process: u32) -> Option<u32> {
    let (_, fields) = stat(process)?;
    fields.split_whitespace().nth(1)?.parse().ok()
}

/// Returns true if a process of this machine has ended.
pub fn has_ended(process: u32) -> bool {
    match stat(process) {
        // One that its parent has not waited for yet is a zombie.
        Some((_, fields)) => fields.trim_start().starts_with(['Z', 'X']),
        None => true,
    }
}

/// Returns the name of a process, and the fields after it (proc(5), `stat`).
fn stat(process: u32) -> Option<(String, String)> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (head, fields) = text.rsplit_once(')')?;
    Some((head.to_owned(), fields.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(variables: &[(&str, &str)]) -> Option<Launched> {
        let (settings, warnings) = Settings::read(&|name| {
            let found = variables.iter().find(|v| v.0 == name);
            found.map(|v| v.1.into())
        });
        assert!(warnings.is_empty(), "{warnings:?}");
        detect(&settings)
    }

    #[test]
    fn ranks_launchers_are_recognized() {
        let launched = |rank, size, launcher| {
            Some(Launched {
                rank,
                size,
                launcher,
            })
        };
        assert_eq!(detected(&[]), None);
        let hydra = [("PMI_RANK", "1"), ("PMI_SIZE", "3")];
        assert_eq!(detected(&hydra), launched(1, 3, Launcher::Pmi));
        let open = [
            ("OMPI_COMM_WORLD_RANK", "0"),
            ("OMPI_COMM_WORLD_SIZE", "2"),
            ("PMIX_RANK", "0"),
        ];
        assert_eq!(detected(&open), launched(0, 2, Launcher::OpenMpi));
        let slurm = [("SLURM_PROCID", "3"), ("SLURM_NTASKS", "4")];
        assert_eq!(detected(&slurm), None);
        let slurm = [slurm[0], slurm[1], ("PMIX_RANK", "3")];
        assert_eq!(detected(&slurm), launched(3, 4, Launcher::Slurm));
        let alone = [("PMI_RANK", "0"), ("PMI_SIZE", "1")];
        assert_eq!(detected(&alone), None);
        let odd = [("PMI_RANK", "one"), ("PMI_SIZE", "2")];
        assert_eq!(detected(&odd), None);
    }

    #[test]
    fn ranks_see_which_processes_live() {
        assert!(!has_ended(std::process::id()));
        assert!(has_ended(u32::MAX));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        while !has_ended(child.id()) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }
}
