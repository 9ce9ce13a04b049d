//! Every operation once, over a real socket, against the simulator, and against real servers that
//! `S3HAUL_TEST_ENDPOINTS` names (`name=http://host:port`, separated by commas; credentials from
//! `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`).

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod pass;

use bytes::Bytes;
use s3haul_sim::{DEFAULT_ACCESS_KEY, DEFAULT_SECRET_KEY, Effect, Fault, SimServer};
use s3haul_wire::env::Env;
use s3haul_wire::ops::{
    Conditions, CopyObject, CopySource, DeleteObjects, ListObjects, ObjectIdentifier, PutObject,
};
use s3haul_wire::{
    AddressingStyle, Client, ClientConfig, CredentialsConfig, EndpointConfig, ObjectProperties,
    Payload,
};

fn client(url: &str, access_key_id: &str, secret_access_key: &str) -> Client {
    let config = ClientConfig {
        endpoint: EndpointConfig {
            url: Some(url.to_owned()),
            region: Some("us-east-1".to_owned()),
            addressing: AddressingStyle::Path,
            ..EndpointConfig::default()
        },
        credentials: CredentialsConfig::Static {
            access_key_id: access_key_id.to_owned(),
            secret_access_key: secret_access_key.to_owned(),
            session_token: None,
        },
        ..ClientConfig::default()
    };
    Client::new(config, Env::system()).unwrap()
}

#[tokio::test]
async fn the_simulator_understands_every_operation() {
    let server = SimServer::builder().start().await.unwrap();
    let client = client(&server.endpoint_url(), DEFAULT_ACCESS_KEY, DEFAULT_SECRET_KEY);
    pass::pass(&client, "operations", &pass::ODD_KEYS).await;
    let failed: Vec<_> =
        server.ledger().records().into_iter().filter(|record| record.status >= 500).collect();
    assert!(failed.is_empty(), "{failed:?}");
    server.shutdown().await;
}

#[tokio::test]
async fn real_servers_understand_every_operation() {
    let Ok(endpoints) = std::env::var("S3HAUL_TEST_ENDPOINTS") else {
        eprintln!("skipped: S3HAUL_TEST_ENDPOINTS names no server");
        return;
    };
    let id = std::env::var("AWS_ACCESS_KEY_ID").unwrap();
    let secret = std::env::var("AWS_SECRET_ACCESS_KEY").unwrap();
    for endpoint in endpoints.split(',').filter(|endpoint| !endpoint.is_empty()) {
        let (name, url) = endpoint.split_once('=').unwrap();
        eprintln!("server: {name}");
        let bucket = format!("s3haul-operations-{}", std::process::id());
        pass::pass(&client(url, &id, &secret), &bucket, &pass::FILE_KEYS).await;
    }
}

/// What is sent again must end as if nothing had happened.
#[tokio::test]
async fn lost_answers_and_errors_in_200_are_mended() {
    let server = SimServer::builder().bucket("bucket").start().await.unwrap();
    let client = client(&server.endpoint_url(), DEFAULT_ACCESS_KEY, DEFAULT_SECRET_KEY);
    let weather = server.weather();
    weather.push(Fault::new(Effect::LostResponse).operation("PutObject"));
    weather.push(Fault::new(Effect::ok_with_error("InternalError")).operation("CopyObject"));
    weather.push(Fault::new(Effect::ok_with_error("SlowDown")).operation("DeleteObjects"));
    let properties = ObjectProperties::default();
    let input = PutObject {
        bucket: "bucket",
        key: "k",
        payload: Payload::from_bytes(Bytes::from_static(b"once")),
        properties: &properties,
        checksum: None,
        conditions: Conditions { if_absent: true, ..Conditions::default() },
    };
    client.put_object(input).await.unwrap();
    let copy = CopyObject {
        bucket: "bucket",
        key: "copy",
        source: CopySource { bucket: "bucket", key: "k", ..CopySource::default() },
        properties: &properties,
        replace_metadata: None,
        replace_tagging: None,
        checksum: None,
        conditions: Conditions::default(),
    };
    client.copy_object(copy).await.unwrap();
    let objects: Vec<_> = ["k", "copy"]
        .iter()
        .map(|key| ObjectIdentifier { key: (*key).to_owned(), ..ObjectIdentifier::default() })
        .collect();
    let outcome = client
        .delete_objects(DeleteObjects {
            bucket: "bucket",
            objects: &objects,
            ..DeleteObjects::default()
        })
        .await
        .unwrap();
    assert!(outcome.refused.is_empty(), "{outcome:?}");
    let ledger = server.ledger();
    for operation in ["PutObject", "CopyObject", "DeleteObjects"] {
        assert_eq!(ledger.count(operation), 2, "{operation}");
    }
    let page =
        client.list_objects(ListObjects { bucket: "bucket", ..ListObjects::default() }).await;
    assert!(page.unwrap().is_empty());
}
