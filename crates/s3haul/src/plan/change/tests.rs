//! The rule against a model: applying the steps gives what was wanted, and then there is nothing
//! left to do.

use proptest::prelude::*;

use super::*;
use s3haul_wire::LockMode;

const NOW_S: i64 = 1_000_000;

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn head() -> ObjectHead {
    ObjectHead {
        properties: ObjectProperties {
            content_type: Some("text/plain".into()),
            cache_control: Some("no-store".into()),
            metadata: Some(pairs(&[("a", "1"), ("b", "2")])),
            website_redirect: Some("/there".into()),
            ..ObjectProperties::default()
        },
        may_have_md5_etag: true,
        ..ObjectHead::default()
    }
}

fn change(properties: ObjectProperties) -> ObjectChange {
    ObjectChange { properties, ..ObjectChange::default() }
}

/// What an object carries after its steps, as S3 does it.
fn applied(head: &ObjectHead, steps: &Steps) -> ObjectHead {
    let mut properties = head.properties.clone();
    if let Some(copy) = &steps.copy {
        let kept = head.properties.clone();
        properties = ObjectProperties { acl: None, ..copy.properties.clone() };
        if !copy.replaces_metadata {
            for (kept, sent) in headers_of(&kept).into_iter().zip(headers_of(&properties)) {
                assert!(is_same_text(kept, sent), "a copy that keeps headers sends others");
            }
        }
    }
    properties.retention = steps.retention.or(properties.retention);
    match steps.legal_hold {
        LegalHoldStep::Put(is_on) => properties.legal_hold = Some(is_on),
        LegalHoldStep::EndIfThere => properties.legal_hold = Some(false),
        LegalHoldStep::Nothing => {}
    }
    ObjectHead { properties, ..head.clone() }
}

#[test]
fn a_copy_is_no_way_around_a_retention() {
    let (long, short, over) = (NOW_S + 100, NOW_S + 50, NOW_S - 1);
    let retention = |mode, until_s| Some(Retention { mode, until_s });
    let governance = |until_s| retention(LockMode::Governance, until_s);
    let compliance = |until_s| retention(LockMode::Compliance, until_s);
    for (present, wanted, bypasses, is_refused) in [
        (compliance(long), governance(long), true, true),
        (compliance(long), compliance(short), true, true),
        (compliance(short), compliance(long), false, false),
        (governance(long), governance(short), false, true),
        (governance(long), governance(short), true, false),
        (governance(short), compliance(long), false, false),
        (compliance(over), governance(short), false, false),
        (None, governance(short), false, false),
        (compliance(long), None, false, false),
    ] {
        let change = change(ObjectProperties { retention: wanted, ..ObjectProperties::default() });
        let change = ObjectChange { bypass_governance: bypasses, ..change };
        let refused = change.refuse_weaker(present, NOW_S).is_err();
        assert_eq!(refused, is_refused, "{present:?} {wanted:?} {bypasses}");
    }
}

#[test]
fn each_property_is_looked_at_once() {
    let before = head().properties;
    let with = |cache_control: Option<&str>| ObjectProperties {
        cache_control: cache_control.map(str::to_owned),
        ..before.clone()
    };
    let (other, none) = (with(Some("public")), with(None));
    let touched = |after: &ObjectProperties| ObjectChange::touched(&before, after);
    assert_eq!(touched(&before), 0);
    assert_eq!(touched(&other) & touched(&none), 0, "a server may do one and not the other");
    let both = ObjectProperties { content_type: None, ..other.clone() };
    assert_eq!(touched(&both) & touched(&other), touched(&other));
    assert_eq!(touched(&both).count_ones(), 2);
    let named = |metadata: &[(&str, &str)]| ObjectProperties {
        metadata: Some(pairs(metadata)),
        ..before.clone()
    };
    let (added, removed) = (named(&[("a", "1"), ("b", "2"), ("c", "3")]), named(&[("a", "1")]));
    assert_eq!(touched(&added) & touched(&removed), 0);
    assert_eq!(touched(&added).count_ones() + touched(&removed).count_ones(), 2);
    let class =
        |class: &str| ObjectProperties { storage_class: Some(class.into()), ..before.clone() };
    assert_eq!(touched(&class("STANDARD")), 0, "HEAD leaves it out");
    assert_ne!(touched(&class("STANDARD_IA")), 0);
}

#[test]
fn what_is_kept_is_sent_again() {
    let wanted =
        ObjectProperties { content_type: Some("image/png".into()), ..ObjectProperties::default() };
    let copy = change(wanted).steps(&head(), NOW_S).unwrap().copy.unwrap();
    assert!(copy.replaces_metadata);
    assert_eq!(copy.properties.content_type.as_deref(), Some("image/png"));
    assert_eq!(copy.properties.cache_control.as_deref(), Some("no-store"));
    assert_eq!(copy.properties.website_redirect.as_deref(), Some("/there"));
    assert_eq!(copy.properties.metadata, head().properties.metadata);
}

#[test]
fn a_class_alone_replaces_nothing() {
    let wanted = ObjectProperties {
        storage_class: Some("STANDARD_IA".into()),
        ..ObjectProperties::default()
    };
    let steps = change(wanted.clone()).steps(&head(), NOW_S).unwrap();
    assert!(!steps.copy.as_ref().unwrap().replaces_metadata);
    assert_eq!(change(wanted.clone()).only_class(), Some("STANDARD_IA"));
    let also = ObjectProperties { acl: Some("private".into()), ..wanted };
    assert_eq!(change(also).only_class(), None);
    let standard =
        ObjectProperties { storage_class: Some(STANDARD.into()), ..ObjectProperties::default() };
    assert_eq!(change(standard).steps(&head(), NOW_S).unwrap(), Steps::default());
}

#[test]
fn an_expiry_is_sent_again_where_nothing_is_lost_by_it() {
    let class = Some("GLACIER_IR".to_owned());
    let change = change(ObjectProperties { storage_class: class, ..ObjectProperties::default() });
    let mut head = head();
    head.properties.expires = Some("Wed, 01 Jan 2031 00:00:00 GMT".into());
    let copy = change.steps(&head, 0).unwrap().copy.unwrap();
    assert!(copy.replaces_metadata);
    assert_eq!(copy.properties.expires, head.properties.expires);
    head.missing_metadata = 1;
    assert!(!change.steps(&head, 0).unwrap().copy.unwrap().replaces_metadata);
}

#[test]
fn metadata_is_added_and_removed_by_name_without_case() {
    let change = ObjectChange {
        add_metadata: pairs(&[("B", "3"), ("c", "4")]),
        remove_metadata: vec!["A".to_owned()],
        ..ObjectChange::default()
    };
    let copy = change.steps(&head(), NOW_S).unwrap().copy.unwrap();
    assert_eq!(copy.properties.metadata, Some(pairs(&[("b", "3"), ("c", "4")])));
    let none = ObjectChange {
        add_metadata: pairs(&[("B", "2")]),
        remove_metadata: vec!["x".to_owned()],
        ..ObjectChange::default()
    };
    assert_eq!(none.steps(&head(), NOW_S).unwrap(), Steps::default());
}

#[test]
fn one_text_has_several_forms() {
    let mut told = head();
    told.properties.metadata = Some(pairs(&[("a", "=?UTF-8?B?w7wgMw==?=")]));
    let add = |value: &str| ObjectChange {
        add_metadata: pairs(&[("a", value)]),
        ..ObjectChange::default()
    };
    assert_eq!(add("ü 3").steps(&told, NOW_S).unwrap(), Steps::default());
    assert_eq!(add(" ü 3 ").steps(&told, NOW_S).unwrap(), Steps::default());
    assert!(add("ü 4").steps(&told, NOW_S).unwrap().copy.is_some());
}

#[test]
fn an_empty_text_removes_a_header() {
    let wanted =
        ObjectProperties { cache_control: Some(String::new()), ..ObjectProperties::default() };
    let steps = change(wanted.clone()).steps(&head(), NOW_S).unwrap();
    assert_eq!(steps.copy.unwrap().properties.cache_control, None);
    let mut bare = head();
    bare.properties.cache_control = None;
    assert_eq!(change(wanted).steps(&bare, NOW_S).unwrap(), Steps::default());
}

#[test]
fn keys_of_kms_are_known_by_their_ends() {
    let kms = |id: Option<&str>| Encryption::Kms { key_id: id.map(str::to_owned) };
    let arn = kms(Some("arn:aws:kms:eu-west-1:1:key/abc"));
    assert!(is_so(&kms(Some("abc")), Some(&arn)) && is_so(&kms(None), Some(&arn)));
    assert!(!is_so(&kms(Some("bc")), Some(&arn)) && !is_so(&Encryption::Aes256, Some(&arn)));
    assert!(!is_so(&Encryption::Aes256, None));
}

#[test]
fn locks_are_kept_by_copies_and_changed_without_them() {
    let retention = |until_s| Some(Retention { mode: LockMode::Governance, until_s });
    let mut locked = head();
    locked.properties.retention = retention(NOW_S + 5);
    locked.properties.legal_hold = Some(true);
    let class =
        ObjectProperties { storage_class: Some("GLACIER".into()), ..ObjectProperties::default() };
    let copied = change(class.clone()).steps(&locked, NOW_S).unwrap().copy.unwrap().properties;
    assert_eq!((copied.retention, copied.legal_hold), (retention(NOW_S + 5), Some(true)));
    // What is over cannot be sent again.
    let copied = change(class).steps(&locked, NOW_S + 5).unwrap().copy.unwrap().properties;
    assert_eq!(copied.retention, None);
    let longer =
        ObjectProperties { retention: retention(NOW_S + 9), ..ObjectProperties::default() };
    let steps = change(longer).steps(&locked, NOW_S).unwrap();
    assert_eq!((steps.copy, steps.retention), (None, retention(NOW_S + 9)));
    let end = change(ObjectProperties { legal_hold: Some(false), ..ObjectProperties::default() });
    assert_eq!(end.steps(&locked, NOW_S).unwrap().legal_hold, LegalHoldStep::Put(false));
    assert_eq!(end.steps(&head(), NOW_S).unwrap().legal_hold, LegalHoldStep::EndIfThere);
}

#[test]
fn what_is_archived_cannot_be_copied() {
    let mut archived = head();
    archived.properties.storage_class = Some("GLACIER".into());
    let class =
        ObjectProperties { storage_class: Some(STANDARD.into()), ..ObjectProperties::default() };
    let error = change(class.clone()).steps(&archived, NOW_S).unwrap_err().to_string();
    assert!(error.contains("`s3haul restore`"), "{error}");
    archived.restore = Some("ongoing-request=\"true\"".into());
    let error = change(class.clone()).steps(&archived, NOW_S).unwrap_err().to_string();
    assert!(error.contains("under way"), "{error}");
    archived.restore = Some("ongoing-request=\"false\", expiry-date=\"x\"".into());
    assert!(change(class).steps(&archived, NOW_S).unwrap().copy.is_some());
    archived.restore = None;
    let hold = change(ObjectProperties { legal_hold: Some(true), ..ObjectProperties::default() });
    assert!(hold.steps(&archived, NOW_S).is_ok(), "what needs no copy goes on");
}

#[test]
fn what_a_server_passes_over_is_seen() {
    let storage_class = Some("GLACIER".into());
    let class = ObjectProperties { storage_class, ..ObjectProperties::default() };
    assert_eq!(change(class).ignored(&head()), Some("storage class"));
    let typed =
        ObjectProperties { content_type: Some("a/b".into()), ..ObjectProperties::default() };
    assert_eq!(change(typed.clone()).ignored(&head()), Some("metadata"));
    let mut done = head();
    done.properties.content_type = typed.content_type.clone();
    assert_eq!(change(typed).ignored(&done), None);
    let encryption = Some(Encryption::Kms { key_id: Some("alias/a".to_owned()) });
    let encrypted = ObjectProperties { encryption, ..ObjectProperties::default() };
    assert_eq!(change(encrypted.clone()).ignored(&head()), Some("encryption"));
    done.properties.encryption = Some(Encryption::Kms { key_id: Some("arn/key/b".to_owned()) });
    assert_eq!(change(encrypted).ignored(&done), None, "an alias cannot be compared");
}

#[test]
fn what_a_copy_would_lose_is_refused() {
    let typed = || {
        let content_type = Some("image/png".into());
        change(ObjectProperties { content_type, ..ObjectProperties::default() })
    };
    let told = ObjectHead { missing_metadata: 1, ..head() };
    assert!(typed().steps(&told, NOW_S).unwrap_err().to_string().contains("metadata"));
    let own_key = ObjectHead { may_have_md5_etag: false, ..head() };
    assert!(typed().steps(&own_key, NOW_S).unwrap_err().to_string().contains("--sse"));
    let encryption = Some(Encryption::Aes256);
    let encrypts = ObjectProperties { encryption, ..typed().properties };
    assert!(change(encrypts).steps(&own_key, NOW_S).is_ok());
    let mut cheap = head();
    cheap.properties.encryption = Some(Encryption::Kms { key_id: None });
    cheap.properties.bucket_key = Some(true);
    let copy = typed().steps(&cheap, NOW_S).unwrap().copy.unwrap();
    assert_eq!(copy.properties.bucket_key, Some(true));
}

#[test]
fn nonsense_is_refused() {
    let refusal = |change: ObjectChange| change.check().unwrap_err().to_string();
    assert_eq!(refusal(ObjectChange::default()), "nothing is to be changed");
    let acl = ObjectProperties { acl: Some("private".into()), ..ObjectProperties::default() };
    assert!(refusal(ObjectChange { keep_acl: true, ..change(acl) }).contains("resets the ACL"));
    let twice = ObjectChange {
        add_metadata: pairs(&[("a", "1")]),
        remove_metadata: vec!["A".to_owned()],
        ..ObjectChange::default()
    };
    assert!(refusal(twice).contains("named twice"));
    let metadata = Some(pairs(&[("q", "1"), ("Q", "2")]));
    let both = change(ObjectProperties { metadata, ..ObjectProperties::default() });
    assert!(refusal(both).contains("`Q` is named twice"));
    let add = |name: &str, value: &str| ObjectChange {
        add_metadata: pairs(&[(name, value)]),
        ..ObjectChange::default()
    };
    assert!(refusal(add("a", &"x".repeat(2048))).contains("more than the 2048"));
    assert!(refusal(add("a b", "x")).contains("cannot name metadata"));
    assert!(refusal(add("a", "x\ny")).contains("are not allowed in a header"));
    assert!(add("a", "x").check().is_ok());
}

fn some_text() -> impl Strategy<Value = Option<String>> {
    prop::option::of("[ab]{0,2}")
}

fn some_metadata() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::btree_map("[a-cA-C]", "[0-2]", 0..4).prop_map(|map| map.into_iter().collect())
}

fn some_class() -> impl Strategy<Value = Option<String>> {
    prop::sample::select(vec![None, Some("STANDARD"), Some("STANDARD_IA"), Some("GLACIER_IR")])
        .prop_map(|class| class.map(str::to_owned))
}

fn some_lock() -> impl Strategy<Value = (Option<Retention>, Option<bool>)> {
    let retention = (any::<bool>(), -1_i64..3).prop_map(|(is_strict, days)| Retention {
        mode: if is_strict { LockMode::Compliance } else { LockMode::Governance },
        until_s: NOW_S + days * 10,
    });
    (prop::option::of(retention), any::<Option<bool>>())
}

fn some_encryption() -> impl Strategy<Value = Option<Encryption>> {
    prop::sample::select(vec![
        None,
        Some(Encryption::Aes256),
        Some(Encryption::Kms { key_id: None }),
        Some(Encryption::Kms { key_id: Some("k".to_owned()) }),
        Some(Encryption::Kms { key_id: Some("arn/k".to_owned()) }),
    ])
}

prop_compose! {
    fn some_properties()(
        texts in prop::array::uniform6(some_text()),
        metadata in prop::option::of(some_metadata()),
        storage_class in some_class(),
        encryption in some_encryption(),
        (retention, legal_hold) in some_lock(),
    ) -> ObjectProperties {
        let [content_type, content_encoding, content_language, content_disposition,
            cache_control, expires] = texts;
        ObjectProperties {
            content_type, content_encoding, content_language, content_disposition, cache_control,
            expires, metadata, storage_class, encryption, retention, legal_hold,
            ..ObjectProperties::default()
        }
    }
}

proptest! {
    #[test]
    fn a_second_run_has_nothing_to_do(
        wanted in some_properties(),
        present in some_properties(),
        add_metadata in some_metadata(),
        remove_metadata in prop::collection::vec("[a-c]", 0..2),
    ) {
        let head =
            ObjectHead { properties: present, may_have_md5_etag: true, ..ObjectHead::default() };
        let wanted = ObjectProperties {
            // A retention that is over already is refused on the command line.
            retention: wanted.retention.filter(|retention| retention.until_s > NOW_S),
            ..wanted
        };
        let change = ObjectChange { add_metadata, remove_metadata, ..change(wanted.clone()) };
        let steps = change.steps(&head, NOW_S).unwrap();
        let after = applied(&head, &steps);
        let again = change.steps(&after, NOW_S).unwrap();
        prop_assert_eq!(again.copy, None);
        prop_assert_eq!(again.retention, None);
        prop_assert!(matches!(
            again.legal_hold,
            LegalHoldStep::Nothing | LegalHoldStep::EndIfThere
        ));
        prop_assert_eq!(steps.copy.is_some() && steps.retention.is_some(), false);
        // What the change does not name is as it was.
        let (before, after) = (&head.properties, &after.properties);
        for ((wanted, before), after) in
            headers_of(&wanted).into_iter().zip(headers_of(before)).zip(headers_of(after))
        {
            let expected = wanted.or(before).filter(|text| !text.is_empty());
            prop_assert!(is_same_text(expected, after));
        }
        if wanted.storage_class.is_none() {
            prop_assert_eq!(class_of(before), class_of(after));
        }
        if wanted.legal_hold.is_none() {
            prop_assert_eq!(before.legal_hold.unwrap_or(false), after.legal_hold.unwrap_or(false));
        }
    }
}
