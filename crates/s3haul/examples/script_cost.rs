//! What scripts cost an object: microseconds on one core, by kind of script.
//!
//! `cargo run --release --example script_cost`

use std::fs::read_to_string;

use s3haul::script::{Limits, Program, Role, Runtime};
use s3haul_wire::ops::{ListPage, ListedObject};

const PAGES: u32 = 200;

type Work = fn(&mut Runtime, &ListPage);

/// CPU time of this thread.
fn cpu_micros() -> f64 {
    let stat = read_to_string("/proc/thread-self/schedstat").expect("Linux has CPU times here");
    let nanos: f64 = stat.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
    nanos / 1000.0
}

#[expect(clippy::print_stdout, reason = "its output is what it is for")]
fn main() {
    let keys: Vec<_> =
        (0..1000).map(|n| format!("2020-04-14/photos/{n:06}/image-{n}.jpg")).collect();
    let objects = keys.iter().map(|key| ListedObject {
        key,
        size: key.len() as u64 * 1_000_003,
        last_modified_s: 1_586_822_400,
        etag: "\"d41d8cd98f00b204e9800998ecf8427e\"",
        storage_class: "STANDARD",
        ..ListedObject::default()
    });
    let page = ListPage::from_objects(objects).expect("a page");
    let select: Work = |runtime, page| drop(runtime.select(page.iter()));
    let rename: Work =
        |runtime, page| drop(runtime.rename(page.iter(), page.iter().map(|object| object.key)));
    let map: Work = |runtime, page| drop(runtime.map(page.iter(), false));
    let fold: Work = |runtime, page| drop(runtime.fold(page.iter()));
    for (role, text, work) in [
        (Role::Filter, "js:/image/", select),
        (Role::Filter, "js:({Size}) => Size > 1024 * 1024", select),
        (Role::Filter, "js:(key, {Size}) => key.endsWith('.jpg') && Size > 9", select),
        (Role::Filter, "js:({LastModified}) => LastModified > 1500000000000", select),
        (Role::ToKey, "js:key => key + '.backup'", rename),
        (Role::ToKey, "js:(key, {Size}) => `${key}.${Size}`", rename),
        (Role::Map, "js:({Size}) => Size", map),
        (Role::Map, "js:object => object", map),
        (Role::Map, "js:({Size}) => 1", fold),
    ] {
        let program = Program::compile(role, text).expect("a program");
        let mut programs = vec![program];
        if text.ends_with("=> 1") {
            let sum = Program::compile(Role::Reduce, "js:(a, b) => a + b");
            programs.push(sum.expect("a program"));
        }
        let mut runtime = Runtime::new(&programs, Limits::default()).expect("a runtime");
        work(&mut runtime, &page);
        let start = cpu_micros();
        (0..PAGES).for_each(|_| work(&mut runtime, &page));
        let micros = (cpu_micros() - start) / f64::from(PAGES) / 1000.0;
        println!("{micros:6.2} us an object  {} {text}", role.name());
    }
}
