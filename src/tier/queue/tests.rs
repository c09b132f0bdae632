//! Tests of the rules of the queue, without threads.

use super::*;
use cranelift_entity::EntityRef;

const SECOND: Duration = Duration::from_secs(1);

fn job(function: usize, recompilation: Option<Recompilation>) -> Job {
    Job {
        score: SECOND,
        function: FuncId::new(function),
        head: None,
        level: Level::Full,
        recompilation,
        eager_threads: 0,
        awaited: false,
    }
}

#[test]
fn a_recompilation_before_its_deadline_waits_for_idle_time() {
    let now = Instant::now();
    let recompilation = Recompilation::new(SECOND, now, 1.0);
    let (worth, late) = (now + SECOND, now + SECOND * 60);
    let waits = job(0, Some(recompilation));
    let speculative = job(0, Some(recompilation.speculative()));
    let hot = job(0, None);
    let (none, long) = (Duration::ZERO, Duration::MAX);
    assert!(hot.is_eligible(false, none, true, now) && !hot.is_eligible(true, long, false, now));
    for job in [&waits, &speculative] {
        assert!(!job.is_eligible(true, long, false, now));
        assert!(job.is_eligible(true, long, false, worth));
        assert!(!job.is_eligible(true, none, false, worth));
        assert!(!job.is_eligible(false, long, true, worth));
        // A recompilation does not start in idle time that is shorter than its cost.
        assert!(!job.is_eligible(true, SECOND / 2, false, worth));
        assert!(job.is_eligible(true, SECOND, false, worth));
    }
    // A deadline passes only if the code was in use all the time.
    assert!(!waits.is_eligible(false, none, true, late));
    let used = |mut job: Job| {
        job.recompilation.iter_mut().for_each(|b| b.mark_used(late));
        job
    };
    assert!(used(waits).is_eligible(false, none, true, late));
    assert!(!used(speculative).is_eligible(false, none, true, late));
}

#[test]
fn a_team_leaves_half_of_the_processors_or_none() {
    let team = |threads, bound: usize| ExpectedTeam {
        threads,
        cpus: (0..bound).collect(),
    };
    assert_eq!(processors_left(4, &team(2, 2)), 2);
    assert_eq!(processors_left(4, &team(1, 0)), 3);
    // A thread bound to a core of two processors occupies both.
    assert_eq!(processors_left(4, &team(1, 2)), 2);
    assert_eq!(processors_left(4, &team(3, 3)), 0);
    assert_eq!(processors_left(4, &team(8, 4)), 0);
}

#[test]
fn hot_functions_do_not_wait_for_eager_jobs() {
    let eager = Job {
        eager_threads: 14,
        score: SECOND * 60,
        ..job(0, None)
    };
    let hot = job(1, None);
    assert!(hot.priority() > eager.priority());
    // All fourteen threads are at work, whether the program leaves a processor or not.
    assert_eq!(eager.most_threads(0, 14), 14);
    assert!(hot.most_threads(0, 14) > 14 && hot.most_threads(1, 14) > 14);
    let recompilation = Recompilation::new(SECOND, Instant::now(), 1.0);
    assert!(job(2, Some(recompilation)).priority() < eager.priority());
}

#[test]
fn superseded_jobs_are_dropped() {
    let recompilation = Recompilation::new(SECOND, Instant::now(), 1.0);
    let quick = |function| Job {
        level: Level::Quick,
        ..job(function, None)
    };
    let mut state = QueueState {
        jobs: vec![quick(0), job(0, Some(recompilation)), quick(1)],
        started_early: vec![job(0, Some(recompilation))],
        ..QueueState::default()
    };
    state.drop_superseded(&[FuncId::new(0)], Level::Quick);
    assert_eq!((state.jobs.len(), state.started_early.len()), (2, 1));
    state.drop_superseded(&[FuncId::new(0)], Level::Full);
    assert_eq!((state.jobs.len(), state.started_early.len()), (1, 0));
    assert_eq!(state.jobs[0].function, FuncId::new(1));
}

#[test]
fn functions_of_one_kind_join_a_unit() {
    let now = Instant::now();
    let recompilation = Recompilation::new(SECOND, now, 1.0);
    let eager = Job {
        eager_threads: 1,
        ..job(3, None)
    };
    let awaited = Job {
        awaited: true,
        ..job(4, None)
    };
    let quick = Job {
        level: Level::Quick,
        ..job(5, None)
    };
    let hotter = Job {
        score: SECOND * 2,
        ..job(2, None)
    };
    let waits = job(6, Some(recompilation));
    let mut state = QueueState {
        jobs: vec![
            job(1, None),
            hotter,
            eager.clone(),
            awaited,
            quick,
            waits.clone(),
        ],
        ..QueueState::default()
    };
    let found = state.joining(&job(0, None), now);
    let functions: Vec<_> = found.iter().map(|j| j.function.index()).collect();
    assert_eq!(functions, [2, 1]);
    assert!(state.joining(&eager, now).is_empty());
    // A recompilation joins another one once it is worth idle time, and counts as started early.
    assert!(state.joining(&waits, now).is_empty());
    assert_eq!(state.joining(&waits, now + SECOND).len(), 1);
    assert!(state.take(&waits).is_some() && state.take(&waits).is_none());
    assert_eq!(state.started_early.len(), 1);
}

#[test]
fn a_call_gives_a_speculative_recompilation_its_deadline() {
    let now = Instant::now();
    let recompilation = Recompilation::new(SECOND, now, 1.0);
    let speculative = |function| job(function, Some(recompilation.speculative()));
    let mut state = QueueState {
        jobs: vec![speculative(0), speculative(1), job(0, None)],
        started_early: vec![speculative(2)],
        ..QueueState::default()
    };
    state.set_deadline(FuncId::new(0), recompilation.with_deadline(now));
    assert!(state.jobs[0].is_eligible(false, Duration::ZERO, true, now));
    assert!(!state.jobs[1].is_eligible(false, Duration::ZERO, true, now));
    state.set_deadline(FuncId::new(0), recompilation);
    assert_eq!(
        state.jobs[0].recompilation,
        Some(recompilation.with_deadline(now))
    );
    // The same holds for a recompilation that has started.
    state.set_deadline(FuncId::new(2), recompilation);
    assert_eq!(state.started_early[0].recompilation, Some(recompilation));
}

#[test]
fn a_recompilation_begun_in_idle_time_is_started_again_at_its_deadline() {
    let now = Instant::now();
    let recompilation = Recompilation::new(SECOND, now, 1.0);
    let mut state = QueueState {
        jobs: vec![job(0, None), job(1, Some(recompilation.speculative()))],
        started_early: vec![
            job(2, Some(recompilation)),
            job(3, Some(recompilation.speculative())),
        ],
        ..QueueState::default()
    };
    let late = now + SECOND * 60;
    // The code that it would replace was not used.
    assert_eq!(state.make_due(late, 1), 0);
    let mut mark_used = |at| {
        state.started_early[0]
            .recompilation
            .iter_mut()
            .for_each(|b| b.mark_used(at))
    };
    mark_used(now + SECOND);
    mark_used(late);
    assert_eq!(state.make_due(late, 1), 1);
    let again = state.jobs.pop().expect("what was begun");
    assert!(
        again.function == FuncId::new(2) && again.is_eligible(false, Duration::ZERO, true, late)
    );
    assert_eq!(state.started_early.len(), 1);
    // The first of the two that ends drops the other.
    state.jobs.push(again);
    state.drop_recompilations((FuncId::new(2), None));
    state.drop_recompilations((FuncId::new(0), None));
    assert_eq!((state.jobs.len(), state.started_early.len()), (2, 1));
    state.promote((FuncId::new(1), None));
    assert!(state.jobs.iter().all(|j| j.recompilation.is_none()));
}
