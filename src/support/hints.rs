//! Hints for undefined symbols: the library that usually defines them, or the compiler option that
//! refers to them.
//!
//! Symbols are recognized by their prefixes, those of BLAS and LAPACK by their naming scheme (type,
//! matrix, operation; LAPACK Users' Guide, 2.2.3). Does not look at what is installed.

/// Prefixes of C names and the `-l` library that defines them. The first match counts.
const LIBRARIES: &[(&str, &str)] = &[
    ("MPI_", "mpi"),
    ("PMPI_", "mpi"),
    ("ompi_", "mpi"),
    ("cblas_", "openblas` or `-l cblas"),
    ("LAPACKE_", "lapacke"),
    ("openblas_", "openblas"),
    ("mkl_", "mkl_rt"),
    ("MKL_", "mkl_rt"),
    ("fftwf_", "fftw3f"),
    ("fftwl_", "fftw3l"),
    ("fftw_mpi_", "fftw3_mpi"),
    ("fftw_", "fftw3"),
    ("dfftw_", "fftw3"),
    ("sfftw_", "fftw3f"),
    ("H5", "hdf5"),
    ("h5", "hdf5_fortran"),
    ("nc_", "netcdf"),
    ("ncmpi_", "pnetcdf"),
    ("nf_", "netcdff"),
    ("_QMnetcdf", "netcdff"),
    ("gsl_", "gsl"),
    ("METIS_", "metis"),
    ("ParMETIS_", "parmetis"),
    ("SCOTCH_", "scotch"),
    ("__gmp", "gmp"),
    ("mpfr_", "mpfr"),
    ("mpc_", "mpc"),
    ("hwloc_", "hwloc"),
    ("numa_", "numa"),
    ("PAPI_", "papi"),
    ("sqlite3_", "sqlite3"),
    ("png_", "png"),
    ("jpeg_", "jpeg"),
    ("TIFF", "tiff"),
    ("curl_", "curl"),
    ("SSL_", "ssl"),
    ("EVP_", "crypto"),
    ("SHA256_", "crypto"),
    ("MD5_", "crypto"),
    ("xml", "xml2"),
    ("lua_", "lua"),
    ("BZ2_", "bz2"),
    ("lzma_", "lzma"),
    ("ZSTD_", "zstd"),
    ("LZ4_", "lz4"),
    ("inflate", "z"),
    ("deflate", "z"),
    ("gzopen", "z"),
    ("gzread", "z"),
    ("gzclose", "z"),
    ("uncompress", "z"),
    ("glut", "glut"),
    ("SDL_", "SDL2"),
    ("cuda", "cudart"),
    ("cublas", "cublas"),
    ("cl", "OpenCL"),
    ("_gfortran_", "gfortran"),
    ("_ZNSt3__1", "c++"),
    ("_ZN3tbb", "tbb"),
    ("_ZN5boost10filesystem", "boost_filesystem"),
    ("_ZN5boost6system", "boost_system"),
    ("_ZN5boost15program_options", "boost_program_options"),
    ("_ZN5boost13serialization", "boost_serialization"),
];

/// Prefixes of functions that compiler options refer to, and the remedy.
const OPTIONS: &[(&str, &str)] = &[
    ("__asan_", "compile without -fsanitize=address"),
    ("__tsan_", "compile without -fsanitize=thread"),
    ("__msan_", "compile without -fsanitize=memory"),
    ("__ubsan_", "compile without -fsanitize=undefined"),
    (
        "__sanitizer_",
        "compile without -fsanitize and -fsanitize-coverage",
    ),
    ("__cfi_", "compile without -fsanitize-cfi-cross-dso"),
    (
        "__llvm_profile_",
        "compile without -fprofile-instr-generate",
    ),
    ("llvm_gcov_", "compile without --coverage"),
    ("__gcov_", "compile without --coverage"),
    (
        "_FortranA",
        "install flang's runtime (libflang_rt.runtime.a), or name it with `--with`",
    ),
    (
        "CFI_",
        "install flang's runtime (libflang_rt.runtime.a), or name it with `--with`",
    ),
];

/// Returns advice for one name, if there is any.
fn advice(name: &str) -> Option<String> {
    if let Some((_, remedy)) = OPTIONS.iter().find(|(p, _)| name.starts_with(p)) {
        return Some((*remedy).to_owned());
    }
    let lower = name.to_ascii_lowercase();
    // Fortran's names of MPI end in an underscore.
    let fortran = name.ends_with('_') && name == lower;
    let library = match () {
        () if fortran && (name.starts_with("mpi_") || name.starts_with("pmpi_")) => {
            "mpi_mpifh` (Open MPI) or `-l mpifort"
        }
        () if fortran && is_lapack(name) => "openblas` or `-l lapack -l blas",
        () => {
            let fits = |prefix: &str| {
                let rest = name.strip_prefix(prefix);
                // Matches `clEnqueue`, but not `clock`: a word must begin after a short prefix.
                rest.is_some_and(|rest| {
                    prefix.len() > 2
                        || prefix.ends_with('_')
                        || rest.starts_with(|c: char| c.is_ascii_uppercase() || prefix == "h5")
                })
            };
            LIBRARIES.iter().find(|(prefix, _)| fits(prefix))?.1
        }
    };
    Some(format!("try `-l {library}`"))
}

/// Returns true for names such as `dgemm_` and `zheevd_`: the type, the kind of matrix or vector,
/// the operation.
fn is_lapack(name: &str) -> bool {
    const SECOND: [&str; 24] = [
        "ge", "gb", "gg", "gt", "po", "pp", "pb", "pt", "sy", "sp", "sb", "st", "he", "hp", "hb",
        "tr", "tp", "tb", "tg", "or", "un", "la", "bd", "hs",
    ];
    const FIRST: [&str; 14] = [
        "axpy", "dot", "dotc", "dotu", "nrm2", "scal", "copy", "swap", "asum", "rot", "rotg",
        "rotm", "rotmg", "dsdot",
    ];
    let Some(stem) = name.strip_suffix('_') else {
        return false;
    };
    const TYPES: [char; 4] = ['s', 'd', 'c', 'z'];
    let typed = stem.strip_prefix(TYPES);
    let index = stem.strip_prefix('i').and_then(|of| of.strip_prefix(TYPES));
    matches!(index, Some("amax" | "amin"))
        || typed.is_some_and(|rest| {
            let matrix = rest.get(..2).is_some_and(|two| SECOND.contains(&two));
            let ordinary = rest.chars().all(|c| c.is_ascii_alphanumeric());
            ordinary && (matrix && (4..=7).contains(&rest.len()) || FIRST.contains(&rest))
        })
        || matches!(
            stem,
            "xerbla" | "ilaenv" | "dznrm2" | "scnrm2" | "dzasum" | "scasum" | "zdscal"
        )
}

/// Returns the end of a message about unresolved symbols. Each of the texts begins with the
/// symbol's name in backticks.
pub fn for_unresolved(symbols: &[String]) -> String {
    let mut list: Vec<(String, &str, usize)> = Vec::new();
    let mut without = false;
    for symbol in symbols {
        let name = symbol.split('`').nth(1).unwrap_or_default();
        let Some(text) = advice(name) else {
            without = true;
            continue;
        };
        match list.iter_mut().find(|(known, ..)| *known == text) {
            Some((.., count)) => *count += 1,
            None => list.push((text, name, 1)),
        }
    }
    let mut end = String::new();
    for (text, name, count) in list {
        let more = if count > 1 { " and others" } else { "" };
        end.push_str(&format!("\n  `{name}`{more}: {text}"));
    }
    if without {
        end.push_str(
            "\n  (`-l NAME` and `-L DIR` name libraries, `--with FILE` further files of the \
             program)",
        );
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_libraries() {
        let says = |name: &str| advice(name).unwrap_or_default();
        for (name, library) in [
            ("MPI_Init", "mpi`"),
            ("mpi_init_", "mpifort`"),
            ("cblas_dgemm", "openblas`"),
            ("dgemm_", "openblas`"),
            ("zheevd_", "lapack "),
            ("idamax_", "openblas`"),
            ("dpotrf_", "lapack "),
            ("fftw_plan_dft_1d", "fftw3`"),
            ("fftwf_execute", "fftw3f`"),
            ("H5Fopen", "hdf5`"),
            ("h5fopen_f_", "hdf5_fortran`"),
            ("nc_open", "netcdf`"),
            ("clEnqueueNDRangeKernel", "OpenCL`"),
            ("_ZNSt3__112basic_stringIcE", "c++`"),
        ] {
            assert!(says(name).contains(library), "{name}: {}", says(name));
        }
        assert!(says("__asan_init").contains("-fsanitize=address"));
        for name in [
            "foo", "clock", "dot", "helper_", "solve_", "count_", "nothing",
        ] {
            assert_eq!(says(name), "", "{name}");
        }
    }

    #[test]
    fn a_message_names_each_library_once() {
        let list = ["`MPI_Init` (used in `main`)", "`MPI_Send`", "`mine`"].map(String::from);
        let text = for_unresolved(&list);
        assert_eq!(text.matches("-l mpi`").count(), 1, "{text}");
        assert!(text.contains("`MPI_Init` and others: "), "{text}");
        assert!(text.contains("--with FILE"), "{text}");
    }
}
