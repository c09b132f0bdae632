//! Binding of threads to processors under `OMP_PROC_BIND` and the `proc_bind` clause.
//!
//! Places are the single processors of the affinity mask: `OMP_PLACES` is accepted, its lists are
//! not interpreted. Nothing is bound unless the environment asks for it.

use crate::kmpc::icv::settings;
use crate::kmpc::thread::Thread;
use crate::support::topology;

/// The processor a worker is bound to at the moment.
#[derive(Default)]
pub struct Bound(Option<usize>);

/// Index into the processors for member `tid` of `size` under policy `bind`, its master on the
/// first: `close` and `true` take neighbours, `spread` equal distances, `primary` the master's.
fn place(bind: u8, tid: u32, size: u32, processors: usize) -> usize {
    match bind {
        2 => 0,
        4 if (size as usize) <= processors => tid as usize * processors / size as usize,
        _ => tid as usize % processors,
    }
}

/// Binds a worker at the start of a region, if binding is on and its place has changed.
#[inline]
pub fn bind_member(bound: &mut Bound, bind: u8, tid: u32, size: u32) {
    if bind == 0 || !settings().bind {
        return;
    }
    let cpus = topology::allowed_cpus();
    let cpu = cpus[place(bind, tid, size, cpus.len())];
    if bound.0 != Some(cpu) {
        topology::bind_current_thread(cpu);
        bound.0 = Some(cpu);
    }
}

/// Binds the initial thread, if binding is on.
pub fn bind_root(thread: &Thread) {
    if settings().bind && thread.gtid == 0 {
        let cpus = topology::allowed_cpus();
        topology::bind_current_thread(cpus[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn kmpc_places_by_policy() {
        assert_eq!(
            (0..4).map(|t| place(3, t, 4, 8)).collect::<Vec<_>>(),
            [0, 1, 2, 3]
        );
        assert_eq!(
            (0..4).map(|t| place(4, t, 4, 8)).collect::<Vec<_>>(),
            [0, 2, 4, 6]
        );
        assert_eq!(
            (0..4).map(|t| place(4, t, 4, 2)).collect::<Vec<_>>(),
            [0, 1, 0, 1]
        );
        assert_eq!(place(2, 3, 4, 8), 0);
    }
}
