//! Assignment of places to the members of a team, by policy. OpenMP 5.2, section 10.1.3.
//!
//! A partition is a run of places, which may wrap around from the last to the first. Choices that
//! the specification leaves open (which members share a place, which subpartition is larger) are
//! libomp's.

/// Place assignment: a place and the enclosing partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PlaceAssignment {
    /// The place.
    pub place: u32,
    /// First place of the partition.
    pub first: u32,
    /// Number of places in the partition.
    pub count: u32,
}

/// Binding of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Binding {
    /// `omp_proc_bind_t`, or [`BY_NUMBER`].
    pub policy: u8,
    /// Threads of the team.
    pub size: u32,
    /// Place assignment of the master before the region.
    pub primary: PlaceAssignment,
    /// Number of all places.
    pub places: u32,
}

/// Policy of `KMP_AFFINITY`: every thread at its own place regardless of the team; libomp's number.
pub const BY_NUMBER: u8 = 5;

impl Binding {
    /// Returns the place assignment of member `tid`, whose global number is `gtid`.
    pub fn assign(&self, tid: u32, gtid: u32) -> PlaceAssignment {
        let PlaceAssignment {
            place,
            first,
            count,
        } = self.primary;
        if count == 0 || self.places == 0 {
            return self.primary;
        }
        let wrap = |place: u32| place % self.places;
        // Position of the master's place within the partition.
        let start = match wrap(place + self.places - first) {
            inside if inside < count => inside,
            _ => 0,
        };
        let at = |steps: u32| wrap(first + (start + steps) % count);
        let stay = |place: u32| PlaceAssignment {
            place,
            first,
            count,
        };
        match self.policy {
            2 => stay(place),
            3 if self.size <= count => stay(at(tid)),
            3 => stay(at(crowded(tid, self.size, count))),
            4 if self.size > count => {
                let place = at(crowded(tid, self.size, count));
                PlaceAssignment {
                    place,
                    first: place,
                    count: 1,
                }
            }
            4 => {
                let (skip, len) = share(tid, self.size, count, count == self.places);
                PlaceAssignment {
                    place: at(skip),
                    first: at(skip),
                    count: len,
                }
            }
            BY_NUMBER => stay(wrap(gtid)),
            _ => self.primary,
        }
    }
}

/// Returns the index among `places` of the place of member `tid`, if there are more members than
/// places: places with one more member than the others lie apart.
fn crowded(tid: u32, size: u32, places: u32) -> u32 {
    let (each, rest) = (size / places, size % places);
    let gap = places.checked_div(rest).unwrap_or(places).max(1);
    let mut members = 0;
    for place in 0..places {
        let more = place.is_multiple_of(gap) && place / gap < rest;
        members += each + u32::from(more);
        if tid < members {
            return place;
        }
    }
    places - 1
}

/// Returns the subpartition of member `tid` among `places`: the number of places before it, and its
/// own number of places.
fn share(tid: u32, size: u32, places: u32, whole: bool) -> (u32, u32) {
    if whole {
        let border = |i: u32| (i as u64 * (places as u64 + 1) / size as u64) as u32;
        let end = border(tid + 1).min(places);
        return (border(tid), end - border(tid));
    }
    let (each, rest) = (places / size, places % size);
    let gap = size.checked_div(rest).unwrap_or(size).max(1);
    let extra = |i: u32| i.is_multiple_of(gap) && i / gap < rest;
    let before = (0..tid).filter(|&i| extra(i)).count() as u32;
    (tid * each + before, each + u32::from(extra(tid)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding(policy: u8, size: u32, place: u32, first: u32, count: u32, places: u32) -> Binding {
        Binding {
            policy,
            size,
            primary: PlaceAssignment {
                place,
                first,
                count,
            },
            places,
        }
    }

    fn places(b: &Binding) -> Vec<u32> {
        (0..b.size).map(|t| b.assign(t, t).place).collect()
    }

    #[test]
    fn kmpc_primary_takes_the_primary_threads_place() {
        let b = binding(2, 3, 2, 0, 4, 4);
        assert_eq!(places(&b), [2, 2, 2]);
        assert_eq!(b.assign(1, 1).count, 4);
    }

    #[test]
    fn kmpc_close_takes_the_next_places_and_wraps() {
        assert_eq!(places(&binding(3, 4, 0, 0, 8, 8)), [0, 1, 2, 3]);
        assert_eq!(places(&binding(3, 4, 6, 0, 8, 8)), [6, 7, 0, 1]);
        assert_eq!(places(&binding(3, 3, 3, 2, 2, 8)), [3, 3, 2]);
        assert_eq!(places(&binding(3, 8, 0, 0, 4, 4)), [0, 0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(places(&binding(3, 6, 0, 0, 4, 4)), [0, 0, 1, 2, 2, 3]);
        assert_eq!(places(&binding(3, 5, 1, 0, 4, 4)), [1, 1, 2, 3, 0]);
    }

    #[test]
    fn kmpc_spread_subdivides_the_partition() {
        let b = binding(4, 4, 0, 0, 8, 8);
        assert_eq!(places(&b), [0, 2, 4, 6]);
        assert!((0..4).all(|t| b.assign(t, t).first == 2 * t && b.assign(t, t).count == 2));
        let b = binding(4, 3, 0, 0, 8, 8);
        let counts: Vec<_> = (0..3).map(|t| b.assign(t, t).count).collect();
        assert_eq!((places(&b), counts), (vec![0, 3, 6], vec![3, 3, 2]));
        // Nested: within the subpartition.
        let inner = binding(4, 2, 4, 4, 2, 8);
        assert_eq!(places(&inner), [4, 5]);
        assert_eq!(inner.assign(1, 1).count, 1);
        let inner = binding(4, 3, 4, 4, 4, 8);
        assert_eq!(places(&inner), [4, 6, 7]);
        assert_eq!(inner.assign(0, 0).count, 2);
        // More threads than places: one place each.
        let b = binding(4, 5, 0, 0, 2, 2);
        assert_eq!(places(&b), [0, 0, 0, 1, 1]);
        assert_eq!(
            b.assign(4, 4),
            PlaceAssignment {
                place: 1,
                first: 1,
                count: 1
            }
        );
    }

    #[test]
    fn kmpc_spread_covers_every_place_once() {
        for total in 1..20 {
            for size in 1..=total {
                for place in 0..total {
                    let b = binding(4, size, place, 0, total, total);
                    let mut seen = vec![0; total as usize];
                    for t in 0..size {
                        let assignment = b.assign(t, t);
                        assert!(
                            assignment.count == total / size
                                || assignment.count == total.div_ceil(size)
                        );
                        for k in 0..assignment.count {
                            seen[((assignment.first + k) % total) as usize] += 1;
                        }
                    }
                    assert!(seen.iter().all(|&n| n == 1), "{total} {size} {place}");
                    assert_eq!(b.assign(0, 0).place, place);
                }
            }
        }
    }

    #[test]
    fn kmpc_affinity_by_number_ignores_the_team() {
        let b = binding(BY_NUMBER, 2, 0, 0, 4, 4);
        assert_eq!(b.assign(1, 6).place, 2);
    }
}
