//! A server with an emulated device, and rank 0's view of it, on a wire inside of this process.

use super::channel::Link;
use super::join::objection;
use super::peer::Peer;
use super::protocol::{Greeting, Reply, Request};
use super::remote::Remote;
use super::serve::{Discovered, End, Server};
use super::wire::tests::connected;
use super::*;
use crate::device::{Failure, MemoryKind, Queue};
use ompvm_support::settings;

fn discover(rank: u32) -> Discovered {
    let device = crate::emulated::Device::of_rank(rank, 0, settings::DEFAULT).unwrap();
    (vec![Arc::new(device)], vec!["one is broken".to_owned()])
}

/// Runs `work` with a device of rank 1, and returns how the server ended.
fn with_server(work: impl FnOnce(&Arc<Peer>, &Remote)) -> End {
    with_server_of(None, work)
}

/// Like [`with_server`], where both ranks know each other's process.
fn with_server_of(process: Option<u32>, work: impl FnOnce(&Arc<Peer>, &Remote)) -> End {
    let wires = connected(2);
    let link = |rank: u32| {
        Arc::new(Link {
            wire: wires[rank as usize].clone(),
            peer: 1 - rank,
            process,
            state: Arc::default(),
        })
    };
    let server = Server::new(link(1), 1, OffloadOptions::default(), discover, None);
    let server = Arc::new(server);
    let running = std::thread::spawn(move || server.run());
    let peer = Arc::new(Peer::new(link(0), "here".into()));
    let proof = process.map(|_| Proof::of_this_process());
    let Ok(Reply::Devices {
        devices,
        problems,
        is_near,
    }) = peer.call(&Request::Describe { proof })
    else {
        panic!("the server should describe its devices");
    };
    assert_eq!(problems, ["one is broken"]);
    assert_eq!(is_near, process.is_some());
    let description = devices.into_iter().next().unwrap();
    let remote = Remote::new(peer.clone(), 0, 5, description).unwrap();
    let remote = remote.reached(is_near);
    work(&peer, &remote);
    drop(remote);
    assert!(peer.close_if_idle());
    assert!(peer.end(3, true));
    running.join().unwrap().unwrap()
}

#[test]
fn ranks_memory_of_every_size_is_copied() {
    for process in [None, Some(std::process::id())] {
        copy_memory(process);
    }
}

fn copy_memory(process: Option<u32>) {
    let end = with_server_of(process, |_, device| {
        for len in [0, 1, 5000, 100_000, 5_000_001] {
            let sent: Vec<u8> = (0..len).map(|n: u32| (n * 7) as u8).collect();
            let len = sent.len();
            let address = device.alloc(len as u64, 64, MemoryKind::Device).unwrap();
            assert!(device.owns(address));
            let mut back = vec![0; len];
            for queue in [Queue::SYNC, device.queue().unwrap()] {
                // SAFETY: both vectors outlive the copies, which are complete at the return.
                unsafe {
                    device.upload(queue, address, sent.as_ptr(), len).unwrap();
                    device
                        .download(queue, back.as_mut_ptr(), address, len)
                        .unwrap();
                }
                assert!(back == sent);
                back.fill(0);
            }
            device.free(address, MemoryKind::Device).unwrap();
        }
    });
    assert_eq!((end.status, end.finalize), (3, true));
}

#[test]
fn ranks_failures_keep_their_kind_and_the_channel() {
    for process in [None, Some(std::process::id())] {
        fail_to_copy(process);
    }
}

fn fail_to_copy(process: Option<u32>) {
    with_server_of(process, |_, device| {
        let size = device.limits().memory * 2;
        let failed = device.alloc(size, 16, MemoryKind::Device);
        assert_eq!(failed, Err(Failure::OutOfMemory { size }));
        for len in [8, 3_000_000] {
            let mut bytes = vec![1_u8; len];
            // SAFETY: the vector outlives the copies.
            let (up, down) = unsafe {
                (
                    device.upload(Queue::SYNC, 16, bytes.as_ptr(), len),
                    device.download(Queue::SYNC, bytes.as_mut_ptr(), 16, len),
                )
            };
            assert!(matches!(up, Err(Failure::Fault(_))), "{up:?}");
            assert!(matches!(down, Err(Failure::Fault(_))), "{down:?}");
            assert!(bytes.iter().all(|&b| b == 1));
        }
        assert!(device.alloc(64, 64, MemoryKind::Host).is_err());
        device.synchronize(Queue::SYNC).unwrap();
        assert!(device.idle(Queue::SYNC).unwrap());
    });
}

#[test]
fn ranks_threads_use_channels_of_their_own() {
    with_server(|peer, device| {
        let held = peer.take().unwrap();
        std::thread::scope(|scope| {
            for n in 0..4_u64 {
                scope.spawn(move || {
                    for k in 0..50 {
                        let word = n * 1000 + k;
                        let address = device.alloc(8, 8, MemoryKind::Device).unwrap();
                        let mut back = 0_u64;
                        // SAFETY: both words outlive the copies.
                        unsafe {
                            let from = (&raw const word).cast();
                            device.upload(Queue::SYNC, address, from, 8).unwrap();
                            let to = (&raw mut back).cast();
                            device.download(Queue::SYNC, to, address, 8).unwrap();
                        }
                        assert_eq!(back, word);
                    }
                });
            }
        });
        drop(held);
    });
}

#[test]
fn ranks_close_once_no_thread_uses_them() {
    with_server(|peer, _| {
        let held = peer.take().unwrap();
        assert!(!peer.close_if_idle());
        drop(held);
        assert!(peer.close_if_idle());
        let (began, answer) = std::sync::mpsc::channel();
        let late = peer.clone();
        // The thread stays until the process ends.
        std::thread::spawn(move || {
            began.send("begins").unwrap();
            let _ = late.call(&Request::Describe { proof: None });
            began.send("was answered").unwrap();
        });
        assert_eq!(answer.recv(), Ok("begins"));
        assert!(answer.recv_timeout(Duration::from_millis(50)).is_err());
    });
}

#[test]
fn ranks_unlike_the_first_are_refused() {
    let own = Greeting {
        version: "1".into(),
        host: "a".into(),
        ..Greeting::default()
    };
    let like = |version: &str, problem: &str| {
        Some(Greeting {
            version: version.into(),
            host: "b".into(),
            problem: problem.into(),
            ..Greeting::default()
        })
    };
    assert_eq!(objection(&own, &[like("1", ""), like("1", "")]), None);
    let why = objection(&own, &[like("1", ""), like("2", "")]).unwrap();
    assert!(why.contains("rank 2 on b runs ompvm 2"), "{why}");
    let why = objection(&own, &[like("1", "x.bc: no such file")]).unwrap();
    assert!(why.contains("rank 1 on b: x.bc: no such file"), "{why}");
    assert!(objection(&own, &[None]).unwrap().contains("rank 1 runs"));
}
