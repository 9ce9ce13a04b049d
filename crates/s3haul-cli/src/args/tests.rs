//! The command line as `aws s3` has it.

use s3haul::job::FilterRule;

use super::*;

fn parts(line: &str) -> (GlobalArgs, Command) {
    let words = format!("s3haul {line}");
    parse(words.split_whitespace().map(Into::into)).unwrap()
}

fn is_refused(line: &str) -> bool {
    let words = format!("s3haul {line}");
    parse(words.split_whitespace().map(Into::into)).is_err()
}

#[test]
fn the_definition_holds() {
    command().debug_assert();
}

/// What each command takes, by the words of the command.
fn flags(command: &clap::Command, path: &str, found: &mut Vec<String>) {
    for arg in command.get_arguments() {
        let names = (arg.get_id(), arg.get_long_and_visible_aliases(), arg.get_short());
        let rules = (arg.is_hide_set(), arg.is_required_set(), arg.get_help_heading());
        found.push(format!("{path} {names:?} {rules:?} {:?}", arg.get_num_args()));
    }
    let about = (command.get_about(), command.get_long_about());
    found.push(format!("{path} {about:?} {:?}", command.get_visible_aliases().collect::<Vec<_>>()));
    for inner in command.get_subcommands() {
        flags(inner, &format!("{path} {}", inner.get_name()), found);
    }
}

#[test]
fn deferred_flags_are_those_of_the_whole_definition() {
    let [deferred, whole] = [Cli::<TopCommand>::command(), command()].map(|mut definition| {
        definition.build();
        let mut found = Vec::new();
        flags(&definition, "", &mut found);
        found.sort();
        found
    });
    assert!(deferred.len() > 1_000, "{}", deferred.len());
    for (deferred, whole) in deferred.iter().zip(&whole) {
        assert_eq!(deferred, whole);
    }
    assert_eq!(deferred.len(), whole.len());
}

#[test]
fn global_flags_go_anywhere_and_s3_may_stand_before() {
    for line in [
        "--region x ls --profile y s3://b --debug",
        "s3 ls --region x --profile y s3://b --debug",
        "--region x s3 --debug ls --profile y s3://b",
    ] {
        let (global, command) = parts(line);
        assert_eq!(global.region.as_deref(), Some("x"), "{line}");
        assert_eq!(global.profile.as_deref(), Some("y"), "{line}");
        assert!(global.debug, "{line}");
        let Command::Ls(args) = command else { panic!("{line}") };
        assert_eq!(args.path.as_deref(), Some("s3://b"), "{line}");
    }
}

#[test]
fn filters_keep_their_order() {
    let (_, command) = parts("rm s3://b --recur --excl a --include b --exclude=c --include d");
    let Command::Rm(args) = command else { panic!() };
    assert!(args.objects.recursive, "unambiguous beginnings of flags are enough");
    let (exclude, include) =
        (|p: &str| FilterRule::Exclude(p.into()), |p: &str| FilterRule::Include(p.into()));
    let rules = [exclude("a"), include("b"), exclude("c"), include("d")];
    assert_eq!(args.objects.filters.rules, rules);
}

#[test]
fn optional_values_have_their_defaults() {
    let (_, command) = parts("cp f s3://b/k --sse --request-payer --grants read=id=1 full=id=2");
    let Command::Cp(args) = command else { panic!() };
    assert_eq!(args.copy.object.sse.as_deref(), Some("AES256"));
    assert_eq!(args.copy.requests.payer.request_payer.as_deref(), Some("requester"));
    assert_eq!(args.copy.object.grants.len(), 2);
    let (_, command) = parts("cp f s3://b/k --sse aws:kms --sse-kms-key-id k");
    let Command::Cp(args) = command else { panic!() };
    assert_eq!(args.copy.object.sse.as_deref(), Some("aws:kms"));
}

#[test]
fn streams_and_ranges_are_values() {
    let (_, command) = parts("cp - s3://b/k");
    let Command::Cp(args) = command else { panic!() };
    assert_eq!(args.copy.paths, ["-", "s3://b/k"]);
    let (_, command) = parts("cat s3://b/k --range -5");
    let Command::Cat(args) = command else { panic!() };
    assert_eq!(args.range.as_deref(), Some("-5"));
    let (_, command) = parts("mb s3://b --tags a 1 --tags b 2");
    let Command::Mb(args) = command else { panic!() };
    assert_eq!(args.tags, ["a", "1", "b", "2"]);
}

#[test]
fn nonsense_is_refused() {
    for line in [
        "",
        "nope",
        "cp a",
        "cp a b c",
        // Clap alone would drop `--keep`, and everything would be removed.
        "rm s3://b --recursive --versions --keep 3",
        "rm s3://b --recursive --delete-markers-only --keep 3",
        "rm s3://b --recursive --keep 3",
        "restore s3://b --recursive --status --plan p",
        "restore s3://b --recursive --status --dryrun",
        "sync a s3://b --to-key x --max-delete 3",
        "sync a s3://b --to-key x --allow-empty-source",
        "cp a s3://b --acl all",
        "cp a s3://b --storage-class COLD",
        "cp a s3://b --sse none",
        "cp a s3://b --page-size 0",
        "ls --expires-in 3",
        "mb s3://b --tags a",
        "serve",
        "serve dir --memory",
        "ls --output csv",
        "tag",
        "tag get",
        "uploads ls",
        "uploads ls s3://b --dryrun",
        "tag get s3://b/k --tags a=1",
        "tag set s3://b/k",
        "tag remove s3://b/k",
        "tag remove s3://b/k --keys a --all",
    ] {
        assert!(is_refused(line), "{line}");
    }
}

#[test]
fn keys_in_the_wrong_place_are_not_shown() {
    let args = ["s3haul", "cp", "a", "s3://b", "--sse-c", "0123456789012345678901234567890k"];
    let error = parse(args.map(OsString::from)).unwrap_err().to_string();
    assert!(error.contains("'******'") && !error.contains("0123456"), "{error}");
    let args = ["s3haul", "cp", "a", "s3://b", "--sse-c", "AES256", "--sse-c-key", "geheim"];
    let shown = format!("{:?}", parse(args.map(OsString::from)).unwrap().1);
    assert!(shown.contains("******") && !shown.contains("geheim"), "{shown}");
}

/// The heading of a group of flags does not hold for those that happen to follow.
#[test]
fn plain_flags_of_a_command_stand_under_no_heading_of_others() {
    let plain = [
        "recursive",
        "expected-size",
        "filter",
        "to-key",
        "delete",
        "size-only",
        "max-delete",
        "yes",
        "since",
        "tags",
        "keys",
        "all",
        "format",
        "sort",
    ];
    let mut definition = command();
    definition.build();
    let mut commands: Vec<_> = definition.get_subcommands().collect();
    let inner: Vec<_> = commands.iter().flat_map(|command| command.get_subcommands()).collect();
    commands.extend(inner);
    for command in commands {
        for arg in
            command.get_arguments().filter(|arg| plain.contains(&arg.get_long().unwrap_or("")))
        {
            assert_eq!(arg.get_help_heading(), None, "{} {arg}", command.get_name());
        }
    }
}
