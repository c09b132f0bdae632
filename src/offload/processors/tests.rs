use super::*;

fn own(part: u32, parts: u32, from: u64, to: u64, first: u32, teams: u32) -> League {
    League {
        part,
        parts,
        from,
        to,
        first,
        teams,
    }
}

#[test]
fn blocks_divide_the_share_without_gaps() {
    for share in [
        own(0, 1, 0, 0, 0, 0),
        own(1, 3, 1 << 62, 1 << 63, 4, 12),
        own(2, 3, 1 << 63, 0, 8, 12),
    ] {
        let blocks: Vec<League> = (0..5)
            .map(|n| share_of_block(&share, n, 5, false))
            .collect();
        assert_eq!(blocks[0].from, share.from);
        assert_eq!(blocks[4].to, share.to);
        for pair in blocks.windows(2) {
            assert_eq!(pair[0].to, pair[1].from);
            assert!(pair[0].from < pair[0].to);
            assert_eq!(pair[0].first + 1, pair[1].first);
        }
    }
}

#[test]
fn an_empty_share_stays_empty() {
    let share = own(12, 13, 1 << 63, 1 << 63, 12, 12);
    let block = share_of_block(&share, 0, 1, true);
    assert_eq!((block.from, block.to), (1 << 63, 1 << 63));
    // It finishes the reduction of the league's 12 teams.
    assert_eq!((block.part, block.parts), (12, 13));
}

#[test]
fn each_block_of_a_reduction_is_a_part() {
    let alone = own(0, 1, 0, 0, 0, 0);
    let parts: Vec<_> = (0..3).map(|n| share_of_block(&alone, n, 3, true)).collect();
    assert!(
        parts
            .iter()
            .zip(0..)
            .all(|(b, n)| (b.part, b.parts, b.teams) == (n, 3, 3))
    );
    let second = own(4, 13, 1 << 62, 1 << 63, 4, 12);
    assert_eq!(share_of_block(&second, 2, 4, true).part, 6);
}

#[test]
fn memory_is_tracked() {
    use super::super::device::Device as _;
    let device = Device::new(0);
    let start = device.alloc(1000, 256, MemoryKind::Device).unwrap();
    assert!(start.is_multiple_of(256) && device.owns(start + 999) && !device.owns(start + 1000));
    device.free(start, MemoryKind::Device).unwrap();
    assert!(matches!(
        device.free(start, MemoryKind::Device),
        Err(Failure::Fault(_))
    ));
    assert!(matches!(
        device.alloc(u64::MAX, 16, MemoryKind::Device),
        Err(Failure::OutOfMemory { .. })
    ));
}
