//! OMPT tools in shared libraries: they load by `OMP_TOOL_LIBRARIES` according to 19.2.1 of OpenMP
//! 5.2, and get the events of guests in every tier.
//!
//! `tests/pass/ompt` has tools inside of the program.

use crate::run::{End, LIMIT, run};
use crate::{compile, ompvm, root};
use libtest_mimic::Trial;
use std::path::{Path, PathBuf};
use std::process::Command;

const GUEST: &str = "\
#include <stdio.h>
int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  {
#pragma omp critical
    sum++;
#pragma omp barrier
#pragma omp single
#pragma omp task
    sum += 10;
  }
  puts(sum > 0 ? \"sum\" : \"none\");
  return 0;
}
";

/// A tool that counts regions, implicit tasks, explicit barriers, critical sections and tasks, and
/// prints them at its end with the number of null addresses among those it got.
const TOOL: &str = "\
#include <omp-tools.h>
#include <stdio.h>
static int regions, implicit, barriers, criticals, tasks, nulls;
static void on_region(ompt_data_t *t, const ompt_frame_t *f, ompt_data_t *p, unsigned n, int flags, const void *c) {
  regions++, nulls += !c || !f->enter_frame.ptr;
}
static void on_implicit(ompt_scope_endpoint_t e, ompt_data_t *p, ompt_data_t *t, unsigned n, unsigned i, int flags) {
  if (e == ompt_scope_begin && flags == ompt_task_implicit)
    __atomic_fetch_add(&implicit, 1, __ATOMIC_SEQ_CST);
}
static void on_sync(ompt_sync_region_t k, ompt_scope_endpoint_t e, ompt_data_t *p, ompt_data_t *t, const void *c) {
  if (e == ompt_scope_begin && k == ompt_sync_region_barrier_explicit)
    __atomic_fetch_add(&barriers, 1, __ATOMIC_SEQ_CST), nulls += !c;
}
static void on_mutex(ompt_mutex_t k, ompt_wait_id_t w, const void *c) {
  if (k == ompt_mutex_critical)
    __atomic_fetch_add(&criticals, 1, __ATOMIC_SEQ_CST), nulls += !c;
}
static void on_task(ompt_data_t *t, const ompt_frame_t *f, ompt_data_t *n, int flags, int d, const void *c) {
  tasks++, nulls += !c;
}
static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data) {
  ompt_set_callback_t set = (ompt_set_callback_t)lookup(\"ompt_set_callback\");
  set(ompt_callback_parallel_begin, (ompt_callback_t)on_region);
  set(ompt_callback_implicit_task, (ompt_callback_t)on_implicit);
  set(ompt_callback_sync_region, (ompt_callback_t)on_sync);
  set(ompt_callback_mutex_acquired, (ompt_callback_t)on_mutex);
  set(ompt_callback_task_create, (ompt_callback_t)on_task);
  return ANSWER;
}
static void finalize(ompt_data_t *data) {
  printf(\"%d regions %d implicit %d barriers %d criticals %d tasks %d nulls\\n\", regions, implicit, barriers, criticals,
         tasks, nulls);
  fflush(stdout);
}
ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime) {
  static ompt_start_tool_result_t result = {initialize, finalize, {0}};
  return WANTED ? &result : 0;
}
";

const TOLD: &str = "1 regions 2 implicit 2 barriers 2 criticals 1 tasks 0 nulls\n";

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for tier in ["interp", "baseline", "opt", "auto"] {
        trials.push(Trial::test(format!("ompt/library/{tier}"), move || {
            Ok(loads(tier)?)
        }));
    }
    trials.push(Trial::test("ompt/disabled", || Ok(disabled()?)));
    trials.push(Trial::test("ompt/refused", || Ok(refused()?)));
    trials.push(Trial::test("ompt/bad_value", || Ok(bad_value()?)));
    trials.push(Trial::test("ompt/none", || Ok(none()?)));
    trials
}

/// Returns a test's own folder, and the guest's bitcode.
fn guest(test: &str) -> Result<(PathBuf, PathBuf), String> {
    let dir = root().join("target/guests/ompt").join(test);
    std::fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
    let source = dir.join("guest.c");
    std::fs::write(&source, GUEST).map_err(|e| e.to_string())?;
    let bitcode = compile::bitcode(&source, &["-O1".to_owned(), "-fopenmp".to_owned()])?;
    Ok((dir, bitcode))
}

/// Builds the tool; `wanted` says whether it accepts to be the tool.
fn tool(dir: &Path, name: &str, wanted: bool, answer: i32) -> Result<PathBuf, String> {
    let (source, out) = (
        dir.join(format!("{name}.c")),
        dir.join(format!("{name}.so")),
    );
    std::fs::write(&source, TOOL).map_err(|e| e.to_string())?;
    let status = Command::new(compile::llvm_bin().join("clang"))
        .args(["-O1", "-fopenmp", "-fPIC", "-shared", "-nostdlib"])
        .arg(format!("-DWANTED={}", i32::from(wanted)))
        .arg(format!("-DANSWER={answer}"))
        .arg("-o")
        .arg(&out)
        .arg(&source)
        .status()
        .map_err(|e| e.to_string())?;
    if status.success() {
        Ok(out)
    } else {
        Err(format!("clang: {status}"))
    }
}

/// Checks a list of libraries: the first is missing, the second declines, the third is the tool.
fn loads(tier: &str) -> Result<(), String> {
    let (dir, bitcode) = guest(tier)?;
    let refusing = tool(&dir, "refusing", false, 1)?;
    let tool = tool(&dir, "tool", true, 1)?;
    let missing = dir.join("missing.so");
    let list = format!(
        "{}:{}:{}",
        missing.display(),
        refusing.display(),
        tool.display()
    );
    let mut command = Command::new(ompvm());
    command
        .arg("run")
        .arg(format!("--tier={tier}"))
        .arg(bitcode);
    command.env("OMP_TOOL_LIBRARIES", list);
    command.env("OMP_TOOL_VERBOSE_INIT", "stderr");
    let ran = run(&mut command, "", LIMIT)?;
    if ran.end != End::Exit(0) || ran.stdout != format!("sum\n{TOLD}") {
        return Err(format!("should be told\n{TOLD}{}", ran.summary()));
    }
    for said in [
        "Search for OMP tool in current address space... Failed.",
        "missing.so... Failed: ",
        "Found but not using the OMPT interface.",
        "Tool was started and is using the OMPT interface.",
    ] {
        if !ran.stderr.contains(said) {
            return Err(format!("should say `{said}`: {}", ran.summary()));
        }
    }
    Ok(())
}

/// Runs the guest with a tool and a value of `OMP_TOOL`.
fn with(bitcode: &Path, tool: &Path, value: &str) -> Result<(String, String), String> {
    let mut command = Command::new(ompvm());
    command.arg("run").arg(bitcode);
    command
        .env("OMP_TOOL_LIBRARIES", tool)
        .env("OMP_TOOL", value);
    let ran = run(&mut command, "", LIMIT)?;
    match ran.end {
        End::Exit(0) => Ok((ran.stdout, ran.stderr)),
        _ => Err(ran.summary()),
    }
}

/// Checks that `OMP_TOOL=disabled` disables tools.
fn disabled() -> Result<(), String> {
    let (dir, bitcode) = guest("disabled")?;
    let tool = tool(&dir, "tool", true, 1)?;
    match with(&bitcode, &tool, "disabled")? {
        (out, err) if out == "sum\n" && err.is_empty() => Ok(()),
        (out, err) => Err(format!("should run without a tool:\n{out}{err}")),
    }
}

/// Checks that a tool whose `initialize` returns 0 gets no events, not even `finalize`.
fn refused() -> Result<(), String> {
    let (dir, bitcode) = guest("refused")?;
    let tool = tool(&dir, "tool", true, 0)?;
    match with(&bitcode, &tool, "enabled")? {
        (out, err) if out == "sum\n" && err.is_empty() => Ok(()),
        (out, err) => Err(format!("should run without a tool:\n{out}{err}")),
    }
}

/// Checks that the log reports a missing tool in libomp's words.
fn none() -> Result<(), String> {
    let (_, bitcode) = guest("none")?;
    let mut command = Command::new(ompvm());
    command.arg("run").arg(bitcode);
    command.env("OMP_TOOL_VERBOSE_INIT", "stderr");
    let ran = run(&mut command, "", LIMIT)?;
    let said = "No OMP_TOOL_LIBRARIES defined.\n...searching tool libraries failed.\nNo OMP tool loaded.\n";
    match ran.stderr.contains(said) {
        true => Ok(()),
        false => Err(format!("should say `{said}`: {}", ran.summary())),
    }
}

/// Checks that an invalid value is reported once, and disables tools.
fn bad_value() -> Result<(), String> {
    let (dir, bitcode) = guest("bad_value")?;
    let tool = tool(&dir, "tool", true, 1)?;
    match with(&bitcode, &tool, "perhaps")? {
        (out, err)
            if out == "sum\n"
                && err
                    .matches("OMP_TOOL has invalid value \"perhaps\"")
                    .count()
                    == 1 =>
        {
            Ok(())
        }
        (out, err) => Err(format!("should warn once:\n{out}{err}")),
    }
}
