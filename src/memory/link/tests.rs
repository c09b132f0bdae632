//! Tests with hand-written objects: each relocation, near and far, and each error.

use super::LinkedCode;

/// A relocatable object with one code section and relocations against undefined symbols.
struct Sketch {
    code: Vec<u8>,
    /// Offset, kind, name, addend.
    relocations: Vec<(u64, u32, &'static str, i64)>,
}

impl Sketch {
    /// ELF64, little endian: null section, `.text`, its relocations, symbols, strings.
    fn bytes(&self) -> Vec<u8> {
        let mut strings = b"\0start\0.text\0".to_vec();
        let mut symbols = vec![0u8; 24];
        let mut symbol = |name: u32, info: u8, section: u16| {
            symbols.extend(name.to_le_bytes());
            symbols.extend([info, 0]);
            symbols.extend(section.to_le_bytes());
            symbols.extend([0u8; 16]);
        };
        symbol(1, 0x12, 1);
        let mut relocations = Vec::new();
        for (i, &(at, kind, name, addend)) in self.relocations.iter().enumerate() {
            symbol(strings.len() as u32, 0x10, 0);
            strings.extend(name.bytes().chain([0]));
            relocations.extend(at.to_le_bytes());
            relocations.extend(((i as u64 + 2) << 32 | u64::from(kind)).to_le_bytes());
            relocations.extend(addend.to_le_bytes());
        }
        let mut bytes = vec![0u8; 64];
        let mut put = |data: &[u8]| {
            let at = bytes.len().next_multiple_of(8);
            bytes.resize(at, 0);
            bytes.extend(data);
            (at as u64, data.len() as u64)
        };
        let text = put(&self.code);
        let rela = put(&relocations);
        let symtab = put(&symbols);
        let strtab = put(&strings);
        // Name, type, flags, place, link, info, alignment, entry size.
        let sections = [
            (0, 0, 0, (0, 0), 0, 0, 0, 0),
            (7, 1, 6, text, 0, 0, 16, 0),
            (0, 4, 0, rela, 3, 1, 8, 24),
            (0, 2, 0, symtab, 4, 1, 8, 24),
            (0, 3, 0, strtab, 0, 0, 1, 0),
        ];
        let table = bytes.len().next_multiple_of(8);
        bytes.resize(table, 0);
        for (name, kind, flags, (at, len), link, info, align, entry) in sections {
            let (name, kind, link, info): (u32, u32, u32, u32) = (name, kind, link, info);
            bytes.extend(name.to_le_bytes());
            bytes.extend(kind.to_le_bytes());
            for word in [flags as u64, 0, at, len] {
                bytes.extend(word.to_le_bytes());
            }
            bytes.extend(link.to_le_bytes());
            bytes.extend(info.to_le_bytes());
            for word in [align as u64, entry as u64] {
                bytes.extend(word.to_le_bytes());
            }
        }
        bytes[..8].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0]);
        bytes[16..18].copy_from_slice(&1u16.to_le_bytes());
        bytes[18..20].copy_from_slice(&62u16.to_le_bytes());
        bytes[20] = 1;
        bytes[40..48].copy_from_slice(&(table as u64).to_le_bytes());
        bytes[52] = 64;
        bytes[58] = 64;
        bytes[60] = sections.len() as u8;
        bytes[62] = 4;
        bytes
    }

    fn link(&self, value: usize) -> Result<LinkedCode, String> {
        LinkedCode::new(&self.bytes(), &|name| {
            name.starts_with("ompvm.").then_some(value)
        })
    }

    /// Links the object and runs `start`.
    fn run(&self, value: usize) -> u64 {
        let code = self.link(value).unwrap_or_else(|e| panic!("{e}"));
        let start = code.lookup("start").unwrap_or_else(|e| panic!("{e}"));
        // SAFETY: the tests' code takes no arguments and returns a number.
        let start = unsafe { std::mem::transmute::<usize, extern "C" fn() -> u64>(start) };
        start()
    }
}

/// An address out of reach from every low address.
const FAR: usize = 0x7fff_1234_5678;
const NEAR: usize = 0x4123_4560;

extern "C" fn forty_two() -> u64 {
    42
}

#[test]
fn absolute_words() {
    // movabs rax, imm64; ret
    let wide = Sketch {
        code: [0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xc3].into(),
        relocations: vec![(2, 1, "ompvm.a", 5)],
    };
    assert_eq!(wide.run(FAR), FAR as u64 + 5);
    // mov eax, imm32; ret
    let narrow = Sketch {
        code: [0xb8, 0, 0, 0, 0, 0xc3].into(),
        relocations: vec![(1, 10, "ompvm.a", 1)],
    };
    assert_eq!(narrow.run(NEAR), NEAR as u64 + 1);
    assert!(
        narrow
            .link(FAR)
            .is_err_and(|e| e.contains("does not reach"))
    );
    // mov rax, simm32; ret
    let signed = Sketch {
        code: [0x48, 0xc7, 0xc0, 0, 0, 0, 0, 0xc3].into(),
        relocations: vec![(3, 11, "ompvm.a", 0)],
    };
    assert_eq!(signed.run(-112isize as usize) as i64, -112);
    assert!(signed.link(FAR).is_err());
}

#[test]
fn relative_words() {
    // lea rax, [rip + x]; ret
    let near = Sketch {
        code: [0x48, 0x8d, 0x05, 0, 0, 0, 0, 0xc3].into(),
        relocations: vec![(3, 2, "ompvm.a", -4)],
    };
    assert_eq!(near.run(NEAR), NEAR as u64);
    // A thread-pointer distance is addressed in the same way.
    assert_eq!(near.run(-64isize as usize) as i64, -64);
    assert!(near.link(FAR).is_err());
}

#[test]
fn addresses_from_the_table() {
    // mov rax, [rip + x]; ret
    for kind in [9, 41, 42] {
        let load = Sketch {
            code: [0x48, 0x8b, 0x05, 0, 0, 0, 0, 0xc3].into(),
            relocations: vec![(3, kind, "ompvm.a", -4)],
        };
        assert_eq!(load.run(FAR), FAR as u64);
        assert_eq!(load.run(NEAR), NEAR as u64);
    }
}

#[test]
fn calls_reach_far_functions() {
    // sub rsp, 8; call x; call x; add rsp, 8; ret
    let mut code = vec![0x48, 0x83, 0xec, 8];
    code.extend([0xe8, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0]);
    code.extend([0x48, 0x83, 0xc4, 8, 0xc3]);
    let calls = Sketch {
        code,
        relocations: vec![(5, 4, "ompvm.a", -4), (10, 4, "ompvm.b", -4)],
    };
    assert_eq!(calls.run(forty_two as *const () as usize), 42);
}

#[test]
fn names_of_the_process_are_found() {
    // sub rsp, 8; call getpid; add rsp, 8; ret
    let code = [
        0x48, 0x83, 0xec, 8, 0xe8, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 8, 0xc3,
    ];
    let call = Sketch {
        code: code.into(),
        relocations: vec![(5, 4, "getpid", -4)],
    };
    assert_eq!(call.run(0), u64::from(std::process::id()));
}

#[test]
fn errors_name_their_cause() {
    let object = |kind, name| Sketch {
        code: vec![0; 16],
        relocations: vec![(0, kind, name, 0)],
    };
    let refused = |sketch: Sketch| sketch.link(NEAR).err().unwrap_or_default();
    assert_eq!(refused(object(18, "ompvm.a")), "unknown relocation 18");
    let missing = refused(object(1, "no_such_function_anywhere"));
    assert_eq!(missing, "undefined symbols: `no_such_function_anywhere`");
    let mut outside = object(1, "ompvm.a");
    outside.relocations[0].0 = 12;
    assert!(refused(outside).contains("outside of its section"));
    assert!(LinkedCode::new(b"\x7fELF", &|_| None).is_err());
    let good = object(1, "ompvm.a").bytes();
    for len in 0..good.len() {
        // A truncated object is refused or means the same; it never crashes.
        let _ = LinkedCode::new(&good[..len], &|_| Some(NEAR));
    }
}

#[test]
fn debuggers_are_told_where_sections_are() {
    let sketch = Sketch {
        code: [0xc3; 8].into(),
        relocations: vec![],
    };
    let bytes = sketch.bytes();
    let code = LinkedCode::new(&bytes, &|_| None).unwrap_or_else(|e| panic!("{e}"));
    let described = code.described(&bytes).unwrap_or_else(|e| panic!("{e}"));
    let text = &code.sections()[0];
    assert_eq!((&*text.name, text.len), (".text", 8));
    let place = (text.address as u64).to_le_bytes();
    assert!(described.windows(8).any(|w| w == place));
    let functions: Vec<_> = code.functions().collect();
    assert_eq!(functions, [("start", text.address, 0)]);
}
