//! Workers of one folder: what each runs, and what counts.

use super::*;
use s3haul_list::KeyRange;
use serde_json::json;

/// The folder of a job in two shards, with leases of ten seconds.
async fn begun(path: &std::path::Path) -> JobFolder {
    let folder = JobFolder::Directory(path.to_owned());
    let plan = Plan { lease_s: 10.0, ..Plan::new(json!({}), vec!["m".to_owned()]) };
    folder.begin(&plan.to_json()).await.unwrap();
    let again = folder.begin(&plan.to_json()).await;
    assert!(matches!(again, Err(FolderError::Taken { .. })), "{again:?}");
    folder
}

async fn run(worker: &mut Worker, share: f64) -> Claimed {
    match worker.next(Some(share)).await.unwrap() {
        Turn::Run(claimed) => claimed,
        other => panic!("{other:?}"),
    }
}

fn range_of(claimed: &Claimed) -> KeyRange {
    range_in(&claimed.work)
}

fn range_in(work: &Work) -> KeyRange {
    match work {
        Work::Range(range) => range.clone(),
        Work::Part(..) => panic!("{work:?}"),
    }
}

fn commit_of(range: &KeyRange) -> Commit {
    let KeyRange { after, through } = range.clone();
    Commit { after, through, done: 1, ..Commit::default() }
}

#[tokio::test]
async fn workers_take_different_shards_and_what_one_leaves_is_for_others() {
    let root = tempfile::tempdir().unwrap();
    let folder = begun(root.path()).await;
    let (mut one, mut two) =
        (Worker::open(folder.clone()).await.unwrap(), Worker::open(folder).await.unwrap());
    let first = run(&mut one, 0.0).await;
    assert_eq!(range_of(&first).through.as_deref(), Some("m"));
    let second = run(&mut two, 0.0).await;
    assert_eq!(range_of(&second).after, "m");
    assert!(matches!(one.next(None).await.unwrap(), Turn::Wait(_)));
    let left = two.look().await.unwrap();
    let crew = two.crew(&left).await.unwrap();
    let is_at =
        |name: &str, work| crew.contains(&Member { name: name.into(), work, is_live: true });
    assert!(is_at(one.name(), Some(first.work.clone())) && is_at(one.name(), None), "{crew:?}");
    assert!(is_at(two.name(), Some(second.work.clone())) && crew.len() == 3, "{crew:?}");
    // One stops inside of its shard and cuts the rest.
    let left = Commit {
        reached: Some("c".to_owned()),
        cuts: vec!["f".to_owned()],
        ..commit_of(&range_of(&first))
    };
    assert_eq!(one.pieces().await.unwrap(), 4);
    assert!(one.commit(first, left).await.unwrap());
    assert_eq!(one.pieces().await.unwrap(), 1);
    let range = range_of(&second);
    assert!(two.commit(second, commit_of(&range)).await.unwrap());
    for expected in ["c", "f"] {
        let rest = run(&mut two, 0.0).await;
        assert_eq!(range_of(&rest).after, expected);
        let range = range_of(&rest);
        assert!(two.commit(rest, commit_of(&range)).await.unwrap());
    }
    assert!(matches!(one.next(None).await.unwrap(), Turn::Done));
    assert_eq!(one.ledger().totals().done, 4);
    let claims = root.path().join(&one.plan().run).join("claim");
    assert_eq!(claims.read_dir().unwrap().count(), 0);
}

#[tokio::test]
async fn what_an_earlier_worker_knew_is_of_use_until_the_job_is_begun_anew() {
    let root = tempfile::tempdir().unwrap();
    let folder = begun(root.path()).await;
    let mut one = Worker::open(folder.clone()).await.unwrap();
    let shard = run(&mut one, 0.0).await;
    let range = range_of(&shard);
    assert!(one.commit(shard, commit_of(&range)).await.unwrap());
    let mut two = Worker::open(folder.clone()).await.unwrap().knowing(one);
    assert_eq!(two.ledger().totals().done, 1);
    assert_eq!(two.look().await.unwrap().len(), 1);
    std::fs::remove_dir_all(root.path().join(&two.plan().run).join("commit")).unwrap();
    assert_eq!(two.look().await.unwrap().len(), 2);
    let other = tempfile::tempdir().unwrap();
    let folder = JobFolder::Directory(other.path().to_owned());
    folder.begin(&Plan::new(json!({}), vec!["f".to_owned()]).to_json()).await.unwrap();
    let mut three = Worker::open(folder).await.unwrap().knowing(two);
    assert_eq!(range_in(&three.look().await.unwrap()[0]).through.as_deref(), Some("f"));
}

#[tokio::test]
async fn objects_of_a_retry_count_once() {
    let root = tempfile::tempdir().unwrap();
    let mut worker = Worker::open(begun(root.path()).await).await.unwrap();
    let shard = run(&mut worker, 0.0).await;
    let work = shard.work.clone();
    let first = Commit { done: 300, failed: 150, bytes: 3000, ..commit_of(&range_of(&shard)) };
    assert!(worker.commit(shard, first).await.unwrap());
    // All of it again, since not all failures are known by name; then those that are.
    for (done, failed, bytes, expected) in [(440, 10, 4400, (440, 4400)), (10, 0, 100, (450, 4500))]
    {
        let (_, before) = worker.ledger().failed().next().unwrap();
        let retry = Commit { done, failed, bytes, ..Commit::default() };
        worker.retried(&work, &before, retry).await.unwrap();
        let totals = worker.ledger().totals();
        assert_eq!((totals.done, totals.bytes, totals.failed), (expected.0, expected.1, failed));
    }
}

#[tokio::test]
async fn of_two_runs_of_a_shard_the_first_commit_counts() {
    let root = tempfile::tempdir().unwrap();
    let folder = begun(root.path()).await;
    let mut one = Worker::open(folder.clone()).await.unwrap();
    let mut two = Worker::open(folder).await.unwrap();
    let slow = run(&mut one, 0.0).await;
    let twice = Claimed {
        work: slow.work.clone(),
        again: false,
        begun: None,
        yields: Arc::default(),
        lost: CancellationToken::new(),
        _beats: JoinSet::new(),
    };
    let done = Commit { reached: Some("d".to_owned()), ..commit_of(&range_of(&twice)) };
    assert!(two.commit(twice, done).await.unwrap());
    let whole = commit_of(&range_of(&slow));
    assert!(!one.commit(slow, whole).await.unwrap());
    for worker in [&mut one, &mut two] {
        let left = worker.look().await.unwrap();
        let begins: Vec<_> = left.iter().map(|work| range_in(work).after).collect();
        assert_eq!(begins, ["d", "m"]);
    }
}

#[tokio::test]
async fn a_claim_is_taken_over_once_it_has_not_changed_for_a_lease() {
    let root = tempfile::tempdir().unwrap();
    let folder = begun(root.path()).await;
    let mut dead = Worker::open(folder.clone()).await.unwrap();
    let mut next = Worker::open(folder).await.unwrap();
    for share in [0.0, 0.9] {
        let Claimed { work, _beats: beats, .. } = run(&mut dead, share).await;
        // It dies without a word.
        drop((work, beats));
    }
    assert!(matches!(next.next(Some(0.0)).await.unwrap(), Turn::Wait(_)));
    // Files are written by threads, so that time only stands still between looks.
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(9)).await;
    tokio::time::resume();
    assert!(matches!(next.next(Some(0.0)).await.unwrap(), Turn::Wait(_)));
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(2)).await;
    tokio::time::resume();
    assert_eq!(range_of(&run(&mut next, 0.0).await).after, "");
}

#[tokio::test]
async fn what_a_worker_leaves_is_free_at_once_and_known_to_be_begun() {
    let root = tempfile::tempdir().unwrap();
    let folder = begun(root.path()).await;
    let mut one = Worker::open(folder.clone()).await.unwrap();
    let mut two = Worker::open(folder).await.unwrap();
    let shard = run(&mut one, 0.0).await;
    assert!(!shard.again);
    one.release(shard).await.unwrap();
    let shard = run(&mut two, 0.0).await;
    assert!(shard.again);
    assert_eq!(range_of(&shard).after, "");
    assert!(!run(&mut one, 0.0).await.again, "the other shard was not begun");
}

#[tokio::test]
async fn a_worker_of_an_earlier_run_counts_for_nothing_in_the_next() {
    let root = tempfile::tempdir().unwrap();
    let folder = begun(root.path()).await;
    let mut one = Worker::open(folder.clone()).await.unwrap();
    let shard = run(&mut one, 0.0).await;
    let range = range_of(&shard);
    std::fs::remove_dir_all(root.path()).unwrap();
    let removed = one.look().await.unwrap_err();
    assert!(matches!(removed, FolderError::Removed { .. }), "{removed}");
    begun(root.path()).await;
    let replaced = one.commit(shard, commit_of(&range)).await.unwrap_err();
    assert!(matches!(replaced, FolderError::Replaced { .. }), "{replaced}");
    let mut two = Worker::open(folder).await.unwrap();
    assert_eq!(two.look().await.unwrap().len(), 2);
    assert!(!run(&mut two, 0.0).await.again);
}

#[tokio::test]
async fn folders_without_a_job_and_with_strange_files_are_errors() {
    let root = tempfile::tempdir().unwrap();
    let folder = JobFolder::Directory(root.path().join("none"));
    let missing = Worker::open(folder).await.unwrap_err();
    assert!(missing.to_string().contains("has no job.json"), "{missing}");
    let folder = begun(root.path()).await;
    let mut worker = Worker::open(folder.clone()).await.unwrap();
    let strange = format!("{}/commit/strange", worker.plan().run);
    folder.write(&strange, b"{}").await.unwrap();
    let error = worker.look().await.unwrap_err().to_string();
    assert!(error.contains("`commit/strange` cannot be read"), "{error}");
}
