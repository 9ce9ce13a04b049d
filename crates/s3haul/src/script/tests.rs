//! Programs as users write them, and what goes wrong with them.

use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use s3haul_wire::ops::ListedObject;

fn object(key: &str, size: u64) -> ListedObject<'_> {
    ListedObject {
        key,
        size,
        last_modified_s: 1_586_822_400,
        etag: "\"d41d8cd98f00b204e9800998ecf8427e\"",
        storage_class: "STANDARD",
        ..ListedObject::default()
    }
}

fn compile(role: Role, text: &str) -> Program {
    Program::compile(role, text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn runtime(programs: &[(Role, &str)]) -> Runtime {
    let programs: Vec<_> = programs.iter().map(|(role, text)| compile(*role, text)).collect();
    Runtime::new(&programs, Limits::default()).unwrap()
}

fn limited(role: Role, text: &str, limits: Limits) -> Runtime {
    Runtime::new(&[compile(role, text)], limits).unwrap()
}

const OBJECTS: [(&str, u64); 3] = [("a/1.jpg", 10), ("a/2.png", 2_000_000), ("b", 0)];

fn names() -> impl Iterator<Item = &'static str> {
    OBJECTS.iter().map(|(key, _)| *key)
}

fn objects() -> impl ExactSizeIterator<Item = ListedObject<'static>> + Clone {
    OBJECTS.iter().map(|(key, size)| object(key, *size))
}

#[test]
fn a_filter_takes_the_object_or_key_and_object_or_is_a_pattern() {
    for text in [
        "js:({Size}) => Size > 1024 * 1024",
        "js:(key, object) => object.Size > 1024 * 1024",
        "js:(key, {Size}) => key.startsWith('a') && Size > 10",
        "js:(...all) => all[0] === 'a/2.png'",
        "js:function (key) { return arguments.length === 1 && key.Key === 'a/2.png' }",
        "js:/\\.PNG$/i",
        "js:/png/g",
        "js:({LastModified, Key}) => LastModified.getTime() === 1586822400000 && /2/.test(Key);",
        "js:({ETag, StorageClass, Size}) => ETag[0] === '\"' && StorageClass === 'STANDARD' \
         && Size % 100 === 0 && Size // a comment",
    ] {
        let mut runtime = runtime(&[(Role::Filter, text)]);
        assert_eq!(runtime.select(objects()).unwrap(), [1], "{text}");
    }
}

#[test]
fn what_the_server_does_not_tell_is_undefined() {
    let text = "js:({ETag, StorageClass}) => ETag === undefined && StorageClass === undefined";
    let bare = ListedObject { etag: "", storage_class: "", ..object("k", 1) };
    let both = [bare, object("l", 1), bare];
    let mut runtime = runtime(&[(Role::Filter, text)]);
    assert_eq!(runtime.select(both.iter().copied()).unwrap(), [0, 2]);
}

#[test]
fn a_new_key_is_a_string_or_the_object_is_left_out() {
    let rename = |programs: &[(Role, &str)]| runtime(programs).rename(objects(), names()).unwrap();
    let backup = rename(&[(Role::ToKey, "js:key => key + '.backup'")]);
    assert_eq!(backup[0].as_deref(), Some("a/1.jpg.backup"));
    let text = "js:(key, {Size}) => Size > 0 ? `${Size}/${key}` : null";
    let sized = rename(&[(Role::ToKey, text)]);
    assert_eq!(sized[1].as_deref(), Some("2000000/a/2.png"));
    assert_eq!(sized[2], None);
    let filtered = rename(&[(Role::ToKey, text), (Role::Filter, "js:/jpg/")]);
    assert_eq!(filtered.iter().flatten().collect::<Vec<_>>(), ["10/a/1.jpg"]);
    for (text, message) in [
        ("js:() => 5", "it returned a number, not the new key as a string"),
        ("js:() => ''", "it returned an empty key"),
        ("js:() => true", "it returned a boolean"),
        ("js:() => ({})", "it returned an object"),
        ("js:() => Promise.resolve('a')", "it returned a promise"),
        ("js:key => key + '\\ud83d'", "no valid Unicode"),
    ] {
        let error = runtime(&[(Role::ToKey, text)]).rename(objects(), names()).unwrap_err();
        assert_eq!(error.kind(), ScriptErrorKind::Result, "{error}");
        assert_eq!((error.key(), error.role()), (Some("a/1.jpg"), Role::ToKey), "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn mapped_values_are_lines() {
    let map = |text: &str, json| runtime(&[(Role::Map, text)]).map(objects(), json).unwrap();
    assert_eq!(map("js:({Key}) => Key", false), ["a/1.jpg", "a/2.png", "b"]);
    assert_eq!(map("js:({Key}) => Key", true), ["\"a/1.jpg\"", "\"a/2.png\"", "\"b\""]);
    assert_eq!(map("js:(key, {Size}) => Size || null", false), ["10", "2000000"]);
    assert_eq!(map("js:(key) => [key.Size, {a: undefined, b: 1n === 1n}]", false).len(), 3);
    let whole = runtime(&[(Role::Filter, "js:/jpg/")]).map(objects(), false).unwrap();
    assert_eq!(
        whole,
        ["{\"Key\":\"a/1.jpg\",\"LastModified\":\"2020-04-14T00:00:00.000Z\",\
          \"ETag\":\"\\\"d41d8cd98f00b204e9800998ecf8427e\\\"\",\"Size\":10,\
          \"StorageClass\":\"STANDARD\"}"]
    );
}

#[test]
fn each_prints_what_it_logs_and_returns() {
    let each = |role, text: &str| runtime(&[(role, text)]).each(objects(), false).unwrap();
    let logged = each(Role::Each, "js:(key, {Size}) => { console.log(key, Size, [1], null) }");
    assert_eq!(logged[1], "a/2.png 2000000 [1] null");
    assert_eq!(each(Role::Each, "js:({Size}) => Size"), ["10", "2000000", "0"]);
    assert_eq!(
        each(Role::EachList, "js:(items) => items.map(i => i.Key).join()"),
        ["a/1.jpg,a/2.png,b"]
    );
    let text = "js:({Key: key}) => { console.log(key); console.log({a: [1]}); console.log(key, 1); \
                console.log(null); console.log(-1 / 0); console.log(new TypeError('t')) }";
    let logged = runtime(&[(Role::Each, text)]).each(objects(), true).unwrap();
    assert_eq!(logged[5], "\"TypeError: t\"");
    assert_eq!(logged[..5], ["\"a/1.jpg\"", "{\"a\":[1]}", "\"a/1.jpg 1\"", "null", "null"]);
    // Only here is there a console.
    let mut quiet = runtime(&[(Role::Map, "js:(key, o) => console.log(key)")]);
    let error = quiet.map(objects(), false).unwrap_err();
    assert!(error.to_string().contains("ReferenceError"), "{error}");
}

#[test]
fn reduction_joins_values_over_all_batches() {
    let total = |programs: &[(Role, &str)]| {
        let mut runtime = runtime(programs);
        runtime.fold(objects()).unwrap();
        runtime.fold([object("z", 7)].into_iter()).unwrap();
        runtime.finish(false).unwrap()
    };
    let sum = (Role::Reduce, "js:(a, b) => a + b");
    assert_eq!(total(&[(Role::Map, "js:({Size}) => 1"), sum]).as_deref(), Some("4"));
    assert_eq!(total(&[(Role::Map, "js:({Size}) => Size"), sum]).as_deref(), Some("2000017"));
    let largest = (Role::Reduce, "js:(a, b) => a.Size > b.Size ? a : b");
    let key = (Role::Finally, "js:({Key}) => Key");
    assert_eq!(total(&[largest, key]).as_deref(), Some("a/2.png"));
    let collected = total(&[(Role::Map, "js:({Key, Size}) => Size ? [Key, [Size]] : null")]);
    assert_eq!(collected.as_deref(), Some("[\"a/1.jpg\",10,\"a/2.png\",2000000,\"z\",7]"));
    assert_eq!(runtime(&[sum]).finish(false).unwrap(), None);
}

#[test]
fn what_is_no_function_is_refused_at_the_start() {
    for (text, message) in [
        ("key => key", "a script starts with `js:`"),
        ("js:5", "this is a number, not a function"),
        ("js:'x'", "this is a string, not a function"),
        ("js:null", "this is null"),
        ("js:async (key) => true", "async functions and generators cannot be used"),
        ("js:function* (key) { yield 1 }", "async functions and generators"),
    ] {
        let error = Program::compile(Role::Filter, text).unwrap_err();
        assert_eq!(error.kind(), ScriptErrorKind::NotAFunction, "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
    let error = Program::compile(Role::ToKey, "js:/x/").unwrap_err();
    assert!(error.to_string().contains("here a function is needed"), "{error}");
}

#[test]
fn syntax_errors_tell_the_place() {
    let error = Program::compile(Role::Filter, "js:({Size} => Size").unwrap_err();
    assert_eq!(error.kind(), ScriptErrorKind::Syntax, "{error}");
    let error = Program::compile(Role::Filter, "js:key =>\n  key +* 2").unwrap_err();
    assert_eq!(error.kind(), ScriptErrorKind::Syntax, "{error}");
    assert_eq!(error.position(), Some((2, 8)), "{error}");
    assert!(format!("{error:#}").ends_with("\n    key +* 2\n         ^"), "{error:#}");
    let error = Program::compile(Role::Filter, "js:é => é.x +* 2").unwrap_err();
    assert_eq!(error.position(), Some((1, 11)), "{error}");
    let error = Program::compile(Role::Filter, "js:(key =>\n (key").unwrap_err();
    assert_eq!(error.position(), Some((2, 6)), "{error}");
    Program::compile(Role::Filter, "js:").unwrap_err();
}

#[test]
fn a_throw_tells_key_and_place() {
    let text = "js:(key, object) => key === 'b' ? object.Owner.ID : true";
    let error = runtime(&[(Role::Filter, text)]).select(objects()).unwrap_err();
    assert_eq!((error.kind(), error.key()), (ScriptErrorKind::Threw, Some("b")));
    assert_eq!(error.position().unwrap().0, 1);
    assert!(error.to_string().contains("TypeError: "), "{error}");
    let mut own = runtime(&[(Role::Filter, "js:key => { throw {why: 'a reason'} }")]);
    let error = own.select(objects()).unwrap_err();
    assert!(error.to_string().contains("it threw {\"why\":\"a reason\"}"), "{error}");
    // The runtime goes on to work.
    own.select(objects()).unwrap_err();
    let mut one = runtime(&[(Role::Filter, "js:key => key.endsWith('.jpg')")]);
    let error = one.select(objects()).unwrap_err();
    assert!(format!("{error:#}").contains("hint: a function of one parameter receives the object"));
    let mut promise = runtime(&[(Role::Filter, "js:key => new Promise(() => {})")]);
    assert_eq!(promise.select(objects()).unwrap_err().kind(), ScriptErrorKind::Result);
}

#[test]
fn time_memory_and_depth_have_limits() {
    let limits = Limits { batch_time: Duration::from_millis(50), ..Limits::default() };
    let start = Instant::now();
    let mut endless = limited(Role::Filter, "js:(key, o) => { while (true) {} }", limits);
    let error = endless.select(objects()).unwrap_err();
    assert_eq!((error.kind(), error.key()), (ScriptErrorKind::Time, Some("a/1.jpg")), "{error}");
    assert!(start.elapsed() < Duration::from_secs(10));
    let caught = "js:(key, o) => { for (;;) { try { while (true) {} } catch (e) {} } }";
    let error = limited(Role::Filter, caught, limits).select(objects()).unwrap_err();
    assert_eq!(error.kind(), ScriptErrorKind::Time, "{error}");
    let regex = "js:(key, o) => /(a+)+$/.test('a'.repeat(40) + 'b')";
    let error = limited(Role::Filter, regex, limits).select(objects()).unwrap_err();
    assert_eq!(error.kind(), ScriptErrorKind::Time, "{error}");

    let limits = Limits { memory_bytes: 4 << 20, ..Limits::default() };
    let hoard = "js:(key, o) => { const all = []; for (;;) all.push(key + all.length) }";
    let error = limited(Role::Filter, hoard, limits).select(objects()).unwrap_err();
    assert_eq!(error.kind(), ScriptErrorKind::Memory, "{error}");
    assert!(error.to_string().contains("more than its 4 MiB"), "{error}");
    let deep = "js:function deep(key, o) { return 1 + deep(key, o) }";
    let error = limited(Role::Filter, deep, Limits::default()).select(objects()).unwrap_err();
    assert_eq!(error.kind(), ScriptErrorKind::Threw, "{error}");
}

#[test]
fn scripts_have_no_world_around_them() {
    for name in ["std", "os", "require", "process", "fetch", "setTimeout", "console", "print"] {
        let text = format!("js:() => typeof {name}");
        let mut runtime = runtime(&[(Role::Map, &text)]);
        assert_eq!(runtime.map(objects(), false).unwrap()[0], "undefined", "{name}");
    }
    let import = runtime(&[(Role::Map, "js:() => { import('std') }")]).map(objects(), false);
    assert_eq!(import.unwrap(), Vec::<String>::new());
    // What a script does to the built-ins does not reach ours.
    let text = "js:() => { Array.prototype.push = null; Date = null; Object = null; return 1 }";
    let mut vandal = runtime(&[(Role::Map, text)]);
    assert_eq!(vandal.map(objects(), false).unwrap(), ["1", "1", "1"]);
    let text = "js:() => { Array.prototype.push = () => 0; JSON.stringify = () => ''; return [1] }";
    let mut vandal = runtime(&[(Role::Map, text)]);
    assert_eq!(vandal.map(objects(), false).unwrap(), ["[1]", "[1]", "[1]"]);
    let mut other = runtime(&[(Role::Filter, "js:/jpg/")]);
    assert_eq!(other.select(objects()).unwrap(), [0]);
}

#[test]
fn a_runtime_moves_between_threads() {
    let mut runtime = runtime(&[(Role::Filter, "js:/jpg/")]);
    let selected = std::thread::spawn(move || runtime.select(objects()).unwrap());
    assert_eq!(selected.join().unwrap(), [0]);
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{1,12}",
        "[a-c/.]{1,8}",
        vec(any::<char>().prop_filter("NUL", |c| *c != '\0'), 1..12)
            .prop_map(|characters| characters.into_iter().collect()),
        Just("\u{10ffff}\u{ffff}\u{d7ff}\u{e000}👩‍👩‍👧\u{1}\u{7f}\u{85}\u{2028}".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn keys_and_numbers_cross_unchanged(
        rows in vec((key(), 0_u64..1 << 53, -1_000_000_000_i64..1 << 33), 0..20)
    ) {
        let page = rows.iter().map(|(key, size, last_modified_s)| {
            ListedObject { last_modified_s: *last_modified_s, ..object(key, *size) }
        });
        let keys = page.clone().map(|object| object.key);
        let mut same = runtime(&[(Role::ToKey, "js:(key, {Key}) => key === Key ? Key : ''")]);
        let names = same.rename(page.clone(), keys).unwrap();
        let expected: Vec<_> = rows.iter().map(|(key, ..)| Some(key.clone())).collect();
        prop_assert_eq!(names, expected);
        let text = "js:({Size, LastModified}) => `${Size} ${LastModified.getTime() / 1000}`";
        let lines = runtime(&[(Role::Map, text)]).map(page, false).unwrap();
        let line = |(_, size, time): &(String, u64, i64)| format!("{size} {time}");
        let expected: Vec<_> = rows.iter().map(line).collect();
        prop_assert_eq!(lines, expected);
    }

    #[test]
    fn a_filter_is_the_same_in_rust(
        rows in vec((key(), 0_u64..100), 0..30), limit in 0_u64..100
    ) {
        let text = format!(
            "js:(key, {{Size}}) => Size > {limit} && [...key].length % 2 === 0 \
             && !key.includes('a')"
        );
        let page = rows.iter().map(|(key, size)| object(key, *size));
        let selected = runtime(&[(Role::Filter, &text)]).select(page).unwrap();
        let expected: Vec<_> = (0..rows.len())
            .filter(|&index| {
                let (key, size) = &rows[index];
                *size > limit && key.chars().count() % 2 == 0 && !key.contains('a')
            })
            .collect();
        prop_assert_eq!(selected, expected);
    }
}
