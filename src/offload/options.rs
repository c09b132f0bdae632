//! The settings of one program for offloading.

use ompvm_cache::{Cache, CacheEntry};
use ompvm_support::settings::{self, OffloadMode, Settings};

/// Settings that a program's device part and its regions keep, so that programs in one process do
/// not share them.
#[derive(Clone, Debug)]
pub struct OffloadOptions {
    /// Cache of the program's engine, for code of devices. `None` caches nothing.
    pub cache: Option<Cache>,
    /// Mode of auto-offload.
    pub mode: OffloadMode,
    /// Settings of the program's engine.
    pub settings: &'static Settings,
}

impl Default for OffloadOptions {
    fn default() -> Self {
        OffloadOptions {
            cache: None,
            mode: OffloadMode::Off,
            settings: settings::DEFAULT,
        }
    }
}

impl OffloadOptions {
    /// Returns the cache entry of code that is made of the given pieces, if there is a cache.
    pub fn cache_entry<'a>(&self, pieces: impl Iterator<Item = &'a [u8]>) -> Option<CacheEntry> {
        self.cache.as_ref().and_then(|cache| cache.entry(pieces))
    }
}
