//! Every consequence of the path rules, as tables.

use super::*;

const FILE: LocalFacts = LocalFacts { exists: true, is_directory: false };
const DIRECTORY: LocalFacts = LocalFacts { exists: true, is_directory: true };
const NOTHING: LocalFacts = LocalFacts { exists: false, is_directory: false };

/// A command with what its local paths are; the working directory is `/w`.
fn plan(
    command: Command,
    flags: &str,
    (source, source_facts): (&str, LocalFacts),
    (target, target_facts): (&str, LocalFacts),
) -> Result<PathPlan, PathError> {
    PathPlan::new(&PathArguments {
        command,
        source,
        target: (!target.is_empty()).then_some(target),
        recursive: flags == "-r",
        may_meet: false,
        working_directory: "/w",
        source_facts,
        target_facts,
    })
}

/// Target of one name, as `s3://…`, a path, or `-`.
fn target(plan: &PathPlan, relative: &str) -> String {
    plan.target_for(relative).map(|location| location.to_string()).unwrap_or_default()
}

#[test]
fn single_names_get_the_targets_that_the_aws_tools_give() {
    let none = NOTHING;
    for (source, target_argument, expected) in [
        (("f", FILE), ("s3://b", none), "s3://b/f"),
        (("f", FILE), ("s3://b/", none), "s3://b/f"),
        (("f", FILE), ("s3://b/d", none), "s3://b/d"),
        (("f", FILE), ("s3://b/d/", none), "s3://b/d/f"),
        (("x/y/f", FILE), ("s3://b/d/", none), "s3://b/d/f"),
        (("s3://b/k", none), ("dir", DIRECTORY), "/w/dir/k"),
        (("s3://b/k", none), ("dir", none), "/w/dir"),
        (("s3://b/k", none), ("dir/", none), "/w/dir/k"),
        (("s3://b/k", none), ("file", FILE), "/w/file"),
        (("s3://b/p/k", none), (".", DIRECTORY), "/w/k"),
        (("s3://b/p/k", none), ("../x/./y", none), "/x/y"),
        (("s3://b/p/k", none), ("/", DIRECTORY), "/k"),
        (("s3://b/p/k", none), ("s3://c", none), "s3://c/k"),
        (("s3://b/p/k", none), ("s3://c/q", none), "s3://c/q"),
        (("s3://b/p/k", none), ("s3://c/q/", none), "s3://c/q/k"),
        (("-", none), ("s3://b/k", none), "s3://b/k"),
        (("s3://b/k", none), ("-", none), "-"),
    ] {
        let plan = plan(Command::Cp, "", source, target_argument).unwrap();
        let name = plan.single_name().to_owned();
        assert_eq!(target(&plan, &name), expected, "{source:?} {target_argument:?}");
        assert!(!plan.is_directory);
    }
}

#[test]
fn directories_get_a_separator_on_both_sides() {
    for (command, flags) in [(Command::Cp, "-r"), (Command::Mv, "-r"), (Command::Sync, "")] {
        for (source, target_argument, expected) in [
            (("d", DIRECTORY), ("s3://b/p", NOTHING), "s3://b/p/a/f"),
            (("d/", DIRECTORY), ("s3://b", NOTHING), "s3://b/a/f"),
            (("s3://b/p", NOTHING), ("d", NOTHING), "/w/d/a/f"),
            (("s3://b/p", NOTHING), ("s3://c/q", NOTHING), "s3://c/q/a/f"),
        ] {
            let plan = plan(command, flags, source, target_argument).unwrap();
            assert!(plan.is_directory && plan.use_source_name);
            assert_eq!(target(&plan, "a/f"), expected, "{command:?} {source:?}");
        }
    }
    let source = plan(Command::Cp, "-r", ("s3://b/p", NOTHING), ("d", NOTHING)).unwrap().source;
    assert_eq!(source, Side::Object(ObjectName::new("b", "p/")));
    let source = plan(Command::Cp, "-r", ("s3://b", NOTHING), ("d", NOTHING)).unwrap().source;
    assert_eq!(source, Side::Object(ObjectName::new("b", "")));
}

#[test]
fn a_file_taken_for_a_directory_is_named_with_a_separator() {
    let plan = plan(Command::Cp, "-r", ("f", FILE), ("s3://b/", NOTHING)).unwrap();
    assert_eq!(plan.source, Side::Local("/w/f/".to_owned()));
}

#[test]
fn rm_touches_only_what_lies_below() {
    let tree = plan(Command::Rm, "-r", ("s3://b/pre", NOTHING), ("", NOTHING)).unwrap();
    assert_eq!(tree.source, Side::Object(ObjectName::new("b", "pre/")));
    assert_eq!((tree.action, &tree.target), (ActionKind::Delete, &None));
    let one = plan(Command::Rm, "", ("s3://b/pre", NOTHING), ("", NOTHING)).unwrap();
    assert_eq!(one.source, Side::Object(ObjectName::new("b", "pre")));
    assert_eq!(one.target_for("pre"), None);
}

#[test]
fn actions_follow_from_the_kinds_of_paths() {
    let action = |source, target_argument| {
        plan(Command::Cp, "", (source, FILE), (target_argument, FILE)).unwrap().action
    };
    assert_eq!(action("f", "s3://b"), ActionKind::Upload);
    assert_eq!(action("s3://b/k", "f"), ActionKind::Download);
    assert_eq!(action("s3://b/k", "s3://c"), ActionKind::Copy);
}

#[test]
fn downloads_know_their_directory_or_their_exact_file() {
    let directory = |flags, argument| {
        let plan = plan(Command::Cp, flags, ("s3://b/k", NOTHING), argument).unwrap();
        plan.target_directory().map(Path::to_owned)
    };
    assert_eq!(directory("", ("d", DIRECTORY)), Some(PathBuf::from("/w/d/")));
    assert_eq!(directory("-r", ("d", NOTHING)), Some(PathBuf::from("/w/d/")));
    assert_eq!(directory("", ("f", NOTHING)), None);
    assert_eq!(directory("", ("-", NOTHING)), None);
}

fn refusal(command: Command, flags: &str, source: &str, target_argument: &str) -> String {
    let error = plan(command, flags, (source, DIRECTORY), (target_argument, NOTHING)).unwrap_err();
    assert_eq!(error.kind, PathErrorKind::ParamValidation);
    error.message
}

#[test]
fn kinds_of_paths_that_do_not_fit_the_command_are_refused() {
    let usage = "<LocalPath> <S3Uri> or <S3Uri> <LocalPath> or <S3Uri> <S3Uri>";
    for (command, source, target_argument, expected) in [
        (Command::Cp, "a", "b", format!("cp {usage}")),
        (Command::Mv, "a", "b", format!("mv {usage}")),
        (Command::Cp, "-", "-", format!("cp {usage}")),
        (Command::Sync, "s3://b", "", format!("sync {usage}")),
        (Command::Rm, "a", "", "rm <S3Uri>".to_owned()),
    ] {
        let expected = format!("usage: s3haul {expected}\nError: Invalid argument type");
        assert_eq!(refusal(command, "", source, target_argument), expected);
    }
}

#[test]
fn a_move_onto_itself_is_refused() {
    for (source, target_argument, expected) in [
        ("s3://b/k", "s3://b/k", "s3://b/k - s3://b/k"),
        ("s3://b/d/k", "s3://b/d/", "s3://b/d/k - s3://b/d/"),
        ("s3://b", "s3://b/", "s3://b/ - s3://b/"),
    ] {
        let expected = format!("Cannot mv a file onto itself: {expected}");
        assert_eq!(refusal(Command::Mv, "", source, target_argument), expected);
    }
    plan(Command::Mv, "", ("s3://b/d/k", NOTHING), ("s3://b/d", NOTHING)).unwrap();
}

#[test]
fn other_senseless_arguments_are_refused_in_the_known_words() {
    let lambda = "s3://arn:aws:s3-object-lambda:us-west-2:123456789012:accesspoint/l";
    let unsupported = "s3 commands do not support S3 Object Lambda resources. \
        Use `aws s3api` instead.";
    let streaming = "Streaming currently is only compatible with non-recursive cp commands";
    let express = "Cannot use sync command with a directory bucket.";
    for (command, flags, source, target_argument, expected) in [
        (Command::Cp, "-r", "-", "s3://b/k", streaming),
        (Command::Mv, "", "-", "s3://b/k", streaming),
        (Command::Sync, "", "s3://b/k", "-", streaming),
        (Command::Sync, "", "d", "s3://x--usw2-az1--x-s3/p", express),
        (Command::Sync, "", "s3://x--usw2-az1--x-s3", "d", express),
        (Command::Cp, "", lambda, "d", unsupported),
        (Command::Cp, "", "f", lambda, unsupported),
    ] {
        assert_eq!(refusal(command, flags, source, target_argument), expected, "{source}");
    }
}

#[test]
fn a_missing_source_is_named_as_given() {
    let error = plan(Command::Cp, "", ("./no/f", NOTHING), ("s3://b", NOTHING)).unwrap_err();
    assert_eq!(error.message, "The user-provided path ./no/f does not exist.");
    assert_eq!(error.kind, PathErrorKind::Missing);
    let stream = plan(Command::Cp, "", ("-", NOTHING), ("s3://b/k", NOTHING)).unwrap();
    assert!(stream.is_stream());
}

#[test]
fn an_empty_path_is_not_the_working_directory() {
    let plan = |command, recursive, source, target| {
        let facts = |path: &str| if path.is_empty() { DIRECTORY } else { NOTHING };
        PathPlan::new(&PathArguments {
            command,
            source,
            target: Some(target),
            recursive,
            may_meet: false,
            working_directory: "/w",
            source_facts: facts(source),
            target_facts: facts(target),
        })
    };
    for command in [Command::Cp, Command::Mv, Command::Sync] {
        let error = plan(command, true, "", "s3://b").unwrap_err();
        assert_eq!(error.message, "The user-provided path  does not exist.");
        let error = plan(command, true, "s3://b", "").unwrap_err();
        assert!(error.message.starts_with("the target path is empty"), "{error}");
    }
    // As with the AWS tools.
    assert!(plan(Command::Cp, false, "s3://b/k", "").is_ok());
}

#[test]
fn filters_see_the_parents_of_single_names_and_the_roots_of_trees() {
    for (flags, source, target_argument, source_root, target_root, prefixes) in [
        ("", "x/f", "s3://b/p/k", "/w/x", "b/p", ("/w/x/", "b/p/")),
        ("", "f", "s3://b/k", "/w", "b/", ("/w/", "b/")),
        ("", "f", "s3://b/p/", "/w", "b/p/", ("/w/", "b/p/")),
        ("", "/f", "s3://b", "/", "b/", ("/", "b/")),
        ("-r", "d/", "s3://b/p", "/w/d", "b/p", ("/w/d/", "b/p/")),
        ("-r", "s3://b", "d", "b/", "/w/d", ("b/", "/w/d/")),
    ] {
        let plan = plan(Command::Cp, flags, (source, FILE), (target_argument, NOTHING)).unwrap();
        let expected =
            FilterRoots { source: source_root.to_owned(), target: target_root.to_owned() };
        assert_eq!(plan.filter_roots, expected, "{source} {target_argument}");
        assert_eq!(plan.source_path_prefix(), prefixes.0, "{source} {target_argument}");
        assert_eq!(plan.target_path_prefix(), prefixes.1, "{source} {target_argument}");
    }
}

#[test]
fn paths_normalize_as_python_does() {
    for (path, expected) in [
        ("", "."),
        (".", "."),
        ("a/", "a"),
        ("a//b/./c", "a/b/c"),
        ("a/../b", "b"),
        ("../a/..", ".."),
        ("a/../../b", "../b"),
        ("/..", "/"),
        ("/../a", "/a"),
        ("//a", "//a"),
        ("///a", "/a"),
        ("/", "/"),
    ] {
        assert_eq!(normalize(path), expected, "{path}");
    }
    assert_eq!(absolute("", "/w"), "/w");
    assert_eq!(absolute("../x", "/"), "/x");
}

#[test]
fn local_paths_print_relative_to_the_working_directory() {
    for (path, expected) in [
        ("/w/f", "./f"),
        ("/w/a/b/f", "a/b/f"),
        ("/d/f", "../d/f"),
        ("/f", "../f"),
        ("/w", "../w"),
        ("/w/a/", "a/"),
    ] {
        assert_eq!(display_local(path, "/w"), expected, "{path}");
    }
    assert_eq!(display_local("/f", "/"), "./f");
    assert_eq!(display_local("/a/b/f", "/a/c/d"), "../../b/f");
}

#[test]
fn keys_that_climb_out_are_noticed() {
    for key in ["../a", "a/../../b", "/../a", "./../a"] {
        assert!(references_parent(key), "{key}");
    }
    for key in ["a", "..a", "a/../b", "a/..b", ".../a", "/a"] {
        assert!(!references_parent(key), "{key}");
    }
}

#[test]
fn aliases_with_the_same_key_may_be_the_same_object() {
    let is_same = |source: &str, target: &str| {
        let name = |key: &str, bucket: &str| ObjectName::new(bucket, key);
        may_be_same_object(&name(source, "b-s3alias"), &name(target, "b"))
    };
    assert!(is_same("a/k", "a/k"));
    assert!(is_same("a/k", "a/"));
    assert!(is_same("k", ""));
    assert!(!is_same("a/k", "b/"));
}

#[test]
fn moves_through_aliases_are_warned_of() {
    let warned = |source, target| {
        let parse = |path| s3_uri::parse(path).unwrap();
        may_be_same_object(&parse(source), &parse(target))
    };
    let arn = "s3://arn:aws:s3:us-west-2:123456789012:accesspoint/my-ap/k";
    assert!(warned(arn, "s3://b/k"));
    assert!(warned("s3://b/k", "s3://ap-abc-s3alias/"));
    assert!(!warned(arn, "s3://b/other"));
    assert!(!warned("s3://a/k", "s3://b/k"));
}
