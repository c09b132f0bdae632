//! Failures that tests inject: of compilations, and of devices.

/// A compilation failure to inject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InjectedFailure {
    /// Kind of the failure.
    pub kind: FailureKind,
    /// True if only code of the full level fails.
    pub full: bool,
    /// Word in the names of the functions whose compilation fails.
    pub name: String,
}

impl InjectedFailure {
    pub(super) fn parse(text: &str) -> Option<InjectedFailure> {
        let (kind, name) = text.split_once(':')?;
        let full = kind.strip_suffix("@full");
        Some(InjectedFailure {
            kind: FailureKind::parse(full.unwrap_or(kind))?,
            full: full.is_some(),
            name: name.to_owned(),
        })
    }
}

/// A way in which a compilation fails. LLVM is the subject where none is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// It ends the process.
    Fatal,
    /// It reports an error.
    Error,
    /// It accesses memory that does not exist.
    Crash,
    /// It aborts.
    Abort,
    /// It exhausts the stack.
    Overflow,
    /// It exhausts the memory.
    Memory,
    /// It does not end.
    Endless,
    /// Its passes make the code far larger.
    Grow,
    /// ompvm's own code panics.
    Panic,
}

impl FailureKind {
    fn parse(text: &str) -> Option<FailureKind> {
        Some(match text {
            "fatal" => FailureKind::Fatal,
            "error" => FailureKind::Error,
            "crash" => FailureKind::Crash,
            "abort" => FailureKind::Abort,
            "overflow" => FailureKind::Overflow,
            "memory" => FailureKind::Memory,
            "endless" => FailureKind::Endless,
            "grow" => FailureKind::Grow,
            "panic" => FailureKind::Panic,
            _ => return None,
        })
    }
}

/// A failure of a device to inject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceFailure {
    /// The step that fails.
    pub step: DeviceStep,
    /// Number of the device among those of its process.
    pub device: u32,
    /// Number of the failing step among those of its kind, from 1 on.
    pub count: u64,
    /// True if the process of the device ends there.
    pub ends: bool,
}

impl DeviceFailure {
    pub(super) fn parse(text: &str) -> Option<DeviceFailure> {
        let mut words = text.split(':');
        let failure = DeviceFailure {
            step: DeviceStep::parse(words.next()?)?,
            device: words.next()?.parse().ok()?,
            count: words.next().map_or(Some(1), |n| n.parse().ok())?,
            ends: words
                .next()
                .map_or(Some(false), |end| (end == "end").then_some(true))?,
        };
        words.next().is_none().then_some(failure)
    }
}

/// A step of the work of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceStep {
    /// Its start.
    Open,
    /// Loading an image.
    Load,
    /// Allocating memory.
    Alloc,
    /// Copying to it, or within it.
    Upload,
    /// Launching a kernel.
    Launch,
    /// Copying from it.
    Download,
    /// Waiting for it.
    Wait,
    /// Freeing memory.
    Free,
}

impl DeviceStep {
    const ALL: [(DeviceStep, &str); 8] = [
        (DeviceStep::Open, "open"),
        (DeviceStep::Load, "load"),
        (DeviceStep::Alloc, "alloc"),
        (DeviceStep::Upload, "upload"),
        (DeviceStep::Launch, "launch"),
        (DeviceStep::Download, "download"),
        (DeviceStep::Wait, "wait"),
        (DeviceStep::Free, "free"),
    ];

    fn parse(text: &str) -> Option<DeviceStep> {
        let mut all = DeviceStep::ALL.iter();
        all.find(|(_, name)| *name == text).map(|(step, _)| *step)
    }

    /// Returns the name of the step in the setting.
    pub fn name(self) -> &'static str {
        let mut all = DeviceStep::ALL.iter();
        all.find(|(step, _)| *step == self)
            .map_or("", |(_, name)| name)
    }
}
