//! File-scope assembly (`__asm__` outside of functions): an object of the module's own.
//!
//! The reader assembles it, and the cache stores it with the module. Here the object is placed in
//! low memory before symbols are resolved, so that the program can refer to its symbols. It is
//! linked when the program's symbols have addresses. Its references may also lead to symbols local
//! to a file, as the assembler would have put code and assembly into one object.
//!
//! Not supported are thread-local variables, a named section with variables of both the program and
//! the assembly, and `.set` of a name that only the program defines.

use hashbrown::HashMap;
use ompvm_ir::{GlobalRef, Module};
use ompvm_memory::link::{LinkedCode, PlacedObject};
use ompvm_support::error::Error;
use std::ffi::CString;
use std::sync::Arc;

/// The assembly of a module.
#[derive(Debug)]
pub struct Assembly {
    module: Arc<Module>,
    /// The names that `.symver` defines, with the symbol and the version that each refers to.
    versions: HashMap<Box<str>, (CString, CString)>,
    reserved: Option<PlacedObject>,
    undefined: Vec<String>,
    symbols: HashMap<Box<str>, usize>,
    code: Option<LinkedCode>,
    /// True to leave the code in memory when this is dropped.
    pub stays: bool,
}

impl Drop for Assembly {
    fn drop(&mut self) {
        if self.stays {
            std::mem::forget(self.code.take());
        }
    }
}

/// Returns a symbol that a module defines, local ones included, unless it is thread-local.
pub fn defined(module: &Module, name: &str) -> Option<GlobalRef> {
    let symbol = module.symbol(name)?;
    let here = match symbol {
        GlobalRef::Func(f) => module.functions[f].body.is_some(),
        GlobalRef::Var(g) => {
            let g = &module.globals[g];
            g.init.is_some() && !g.thread_local
        }
        GlobalRef::Alias(_) | GlobalRef::IFunc(_) => true,
    };
    here.then_some(symbol)
}

impl Assembly {
    /// Reserves memory for the assembly of a module. Returns `None` if the module has none.
    ///
    /// # Errors
    /// Names an unsupported construct in the assembly.
    pub fn reserve(module: &Arc<Module>) -> Result<Option<Assembly>, Error> {
        if module.assembly.is_empty() {
            return Ok(None);
        }
        let reserved = PlacedObject::new(&module.assembly).map_err(|why| fail(module, &why))?;
        Ok(Some(Assembly {
            versions: versions(&module.module_asm),
            undefined: reserved.undefined().to_vec(),
            symbols: reserved.symbols().clone(),
            reserved: Some(reserved),
            module: module.clone(),
            code: None,
            stays: false,
        }))
    }

    /// Returns the names of undefined symbols.
    pub fn undefined(&self) -> &[String] {
        &self.undefined
    }

    /// Returns the address of a definition: a symbol, a bound of a section, or a version of a
    /// library's symbol.
    pub fn address(&self, name: &str) -> Option<usize> {
        if let Some(&address) = self.symbols.get(name) {
            return Some(address);
        }
        if let Some((name, version)) = self.versions.get(name) {
            // SAFETY: both arguments are C strings; the result is not dereferenced.
            let found =
                unsafe { libc::dlvsym(libc::RTLD_DEFAULT, name.as_ptr(), version.as_ptr()) };
            return (!found.is_null()).then_some(found as usize);
        }
        let section = |name: &str| {
            let own = self.module.globals.values();
            let mixed = own.into_iter().any(|g| g.section.as_deref() == Some(name));
            let reserved = self.reserved.as_ref().filter(|_| !mixed)?;
            reserved.section(&self.module.assembly, name)
        };
        if let Some(name) = name.strip_prefix("__start_") {
            return section(name).map(|(start, _)| start);
        }
        let (start, len) = section(name.strip_prefix("__stop_")?)?;
        Some(start + len)
    }

    /// Links the assembly. `addresses` holds the undefined symbols.
    ///
    /// # Errors
    /// Names a reference that does not reach its target.
    pub fn bind(&mut self, addresses: &HashMap<String, usize>) -> Result<(), Error> {
        let Some(reserved) = self.reserved.take() else {
            return Ok(());
        };
        let code = reserved.link(&self.module.assembly, &|name| addresses.get(name).copied());
        self.code = Some(code.map_err(|why| fail(&self.module, &why))?);
        Ok(())
    }

    /// Returns the functions listed in sections whose names begin with `name` (`.init_array`).
    pub fn listed(&self, name: &str) -> Vec<usize> {
        let sections = self.code.iter().flat_map(LinkedCode::sections);
        let lists = sections.filter(|s| s.name.starts_with(name));
        lists
            .flat_map(|s| {
                // SAFETY: the section is linked and holds `len / 8` addresses.
                (0..s.len / 8).map(|i| unsafe { *((s.address + i * 8) as *const usize) })
            })
            .filter(|&f| f != 0 && f != usize::MAX)
            .collect()
    }
}

fn fail(module: &Module, why: &str) -> Error {
    Error::Input {
        file: module.name.clone(),
        cause: format!("assembly outside of functions: {why}"),
    }
}

/// Returns the names that `.symver` gives to versions of library symbols (`.symver name,
/// symbol@VERSION`).
fn versions(text: &str) -> HashMap<Box<str>, (CString, CString)> {
    let statements = text.lines().flat_map(|l| l.split(';')).map(str::trim);
    let named = statements.filter_map(|s| {
        let (own, other) = s.strip_prefix(".symver")?.split_once(',')?;
        let (symbol, version) = other.trim().split_once('@')?;
        let version = version.trim_start_matches('@').split([',', ' ']).next()?;
        let pair = (CString::new(symbol).ok()?, CString::new(version).ok()?);
        Some((own.trim().into(), pair))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::versions;

    #[test]
    fn tier_assembly_versions_are_read() {
        let found = versions(
            ".symver old, memcpy@GLIBC_2.2.5\n\t.symver a,b@@V1 ; .symver c, d@@@V2, remove\n\
             .globl x\n",
        );
        let get = |n: &str| {
            let (name, version) = found.get(n)?;
            Some((name.to_str().ok()?, version.to_str().ok()?))
        };
        assert_eq!(get("old"), Some(("memcpy", "GLIBC_2.2.5")));
        assert_eq!(get("a"), Some(("b", "V1")));
        assert_eq!(get("c"), Some(("d", "V2")));
        assert_eq!(found.len(), 3);
    }
}
