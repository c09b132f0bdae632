from collections.abc import Buffer, Callable, Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Literal, Self, TypedDict, Unpack

__version__: str

_Path = str | PathLike[str]
_Tier = Literal["interp", "baseline", "opt", "auto"]
_Language = Literal["c", "c++", "fortran"]
_Value = int | float | bool | Buffer | None

class Error(Exception):
    """A failure: a file that cannot be used, an unresolved symbol, an unsupported feature."""

class Trap(Error):
    """A fault of the guest. `signal` is the signal that would end a native run, `address` that of a
    bad access or call, `place` such as "kernel.c:12", `thread` the OpenMP thread number, `region`
    the OpenMP construct, and `detail` the type of an uncaught exception. What is not known is
    None."""

    kind: str
    signal: int
    address: int | None
    place: str | None
    function: str | None
    thread: int | None
    region: str | None
    detail: str | None

class Function:
    """A function of a running program."""

    name: str
    signature: str
    def __call__(self, *arguments: _Value) -> Any:
        """Calls the function with the interpreter's lock released, unless the function is a few
        instructions. The caller answers for the meaning of the arguments, as in C; a wrong length
        damages memory. Raises Trap if the guest faults, Error if it exits, TypeError or ValueError
        for an argument of a wrong type or range, and what a function of the host raised."""

class Row(TypedDict):
    function: str
    place: str | None
    region: bool
    thread: int | None
    entries: int
    instructions: int

class Statistics(TypedDict):
    instructions: int
    lowered_functions: int
    lowered_instructions: int
    lowering_seconds: float
    rows: list[Row]

class Process:
    """A running program."""

    def function(self, name: str, signature: str | None = None) -> Function:
        """Looks up a function. `signature` is its type as in C, without names of parameters, such
        as "double (long, const double *)": then integers are signed as it says, and arrays are
        checked against it. Raises Error if there is no such function or its type differs. A
        look-up costs far more than a call."""
    def __getitem__(self, name: str) -> Function: ...
    def variable(self, name: str) -> int | None:
        """Returns the address of a variable; None if the program does not define it or it is
        thread-local."""
    def run_main(self) -> int:
        """Runs main on this thread and then the exit handlers, and returns the exit status modulo
        256. A second call raises Error. Other threads may call functions meanwhile."""
    @property
    def memory_used(self) -> int | None:
        """Bytes of heap memory that the program holds; None without a limit."""
    @property
    def fuel(self) -> int | None:
        """Instructions that the program may still execute; None without a limit. Can be set."""
    @fuel.setter
    def fuel(self, instructions: int) -> None: ...
    def statistics(self) -> Statistics:
        """Returns counts, if the process was started with `reports`."""
    def close(self) -> None:
        """Ends the process once its functions are gone, too."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        type: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

class Cancel:
    """Ends running calls from another thread: they raise Trap with the kind "cancelled"."""

    def __init__(self) -> None: ...
    def cancel(self) -> None:
        """Ends the calls that run now of the programs that were started with it."""

class _Options(TypedDict, total=False):
    tier: _Tier
    args: Sequence[str] | None
    env: Mapping[str, str] | None
    threads: int | None
    libraries: Sequence[str] | None
    library_paths: Sequence[_Path] | None
    functions: Mapping[str, tuple[str, Callable[..., Any]]] | None
    stack_size: int
    devices: str | None
    reports: bool
    time_limit: float | None
    cancel: Cancel | None
    thread_limit: int | None
    memory_limit: int | None
    fuel: int | None

class Module:
    """A program that has been read. It can be started several times."""

    def __init__(self, *files: _Path, cached: bool = True, contained: bool = False) -> None: ...
    @staticmethod
    def from_bytes(
        data: bytes, name: str = "bytes", cached: bool = True, contained: bool = False
    ) -> Module: ...
    @staticmethod
    def from_source(
        text: str,
        language: _Language = "c",
        *,
        flags: Sequence[str] | None = None,
        name: str = "source",
        cached: bool = True,
    ) -> Module:
        """Compiles a text with the installed clang or flang, -O2 -g -fopenmp and `flags`."""
    def start(self, **options: Unpack[_Options]) -> Process:
        """Starts the program. `functions` defines functions of the host by name, each with its
        type as in C and a callable. `stack_size` is in bytes; 0 is the caller's own stack.
        `time_limit` limits each call, in seconds, and `cancel` can
        end it. `thread_limit` limits the OpenMP threads for each thread of the host,
        `memory_limit` the bytes of heap memory that the program holds, and `fuel` the
        instructions that it executes, which needs the tier "interp"."""

class Evaluation:
    """Result of a cell."""

    value: str | None
    warnings: str
    exit: int | None

class Session:
    """A program in C that grows by cells, for notebooks."""

    def __init__(
        self,
        *,
        tier: _Tier = "auto",
        flags: Sequence[str] | None = None,
        threads: int | None = None,
        libraries: Sequence[str] | None = None,
        library_paths: Sequence[_Path] | None = None,
        functions: Mapping[str, tuple[str, Callable[..., Any]]] | None = None,
        devices: str | None = None,
        time_limit: float | None = None,
        cancel: Cancel | None = None,
        thread_limit: int | None = None,
        memory_limit: int | None = None,
    ) -> None:
        """Starts a session without cells. A cell is compiled with the installed clang, -O2 -g
        -fopenmp and `flags`; it declares the `functions` that it uses."""
    def run(self, cell: str) -> Evaluation:
        """Compiles and runs a cell on this thread, with the interpreter's lock released. Later
        cells see its variables, functions, types, macros and headers. `value` is that of the last
        expression, as text, and `exit` the status if the cell called exit."""
    def completeness(self, cell: str) -> Literal["complete", "unfinished", "open"]:
        """Returns how far a text is from a complete cell: "unfinished" if more may follow, such as
        the statement of a pragma, "open" if more must follow, such as a bracket."""
    def close(self) -> None:
        """Ends the processes of the cells, unless a cell runs."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        type: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

def open(*files: _Path, **options: Unpack[_Options]) -> Process:
    """Reads files and starts the program, as the command line does."""

def compile(
    text: str,
    language: _Language = "c",
    *,
    flags: Sequence[str] | None = None,
    **options: Unpack[_Options],
) -> Process:
    """Compiles a text and starts the program."""

def compile_report(function: str | None = None) -> str:
    """Returns the compilations of this process as text."""

def offload_report() -> str:
    """Returns the regions that ran on devices as text."""
