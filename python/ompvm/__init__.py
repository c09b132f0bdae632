"""Run OpenMP programs from LLVM bitcode, and call their functions on arrays in place."""

from ._ompvm import (
    Cancel,
    Error,
    Evaluation,
    Function,
    Module,
    Process,
    Session,
    Trap,
    __version__,
    compile,
    compile_report,
    offload_report,
    open,
)

__all__ = [
    "Cancel",
    "Error",
    "Evaluation",
    "Function",
    "Module",
    "Process",
    "Session",
    "Trap",
    "__version__",
    "compile",
    "compile_report",
    "offload_report",
    "open",
]
