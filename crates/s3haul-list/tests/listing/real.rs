//! The embedded server over real sockets, on several threads.

use s3haul_list::{ListRequest, Order, list, objects, versions};
use s3haul_sim::{DEFAULT_ACCESS_KEY, DEFAULT_SECRET_KEY, RunningServer, SimServer};
use s3haul_wire::env::Env;
use s3haul_wire::{Client, CredentialsConfig};

use super::server::config;
use super::{all, collect};

fn client(server: &RunningServer) -> Client {
    let credentials = CredentialsConfig::Static {
        access_key_id: DEFAULT_ACCESS_KEY.to_owned(),
        secret_access_key: DEFAULT_SECRET_KEY.to_owned(),
        session_token: None,
    };
    Client::new(config(&server.endpoint_url(), credentials), Env::system()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn computed_keys_come_once_over_sockets() {
    for spec in ["uuid:3000", "seq:3000", "dates:3000", "deep:3000"] {
        let server = SimServer::builder().synthetic(spec).start().await.unwrap();
        for order in [Order::Any, Order::Ascending] {
            let request = ListRequest {
                order,
                concurrency: 16,
                page_size: Some(50),
                is_eager: true,
                ..ListRequest::default()
            };
            let mut found =
                all(&mut list(objects(client(&server), "synthetic"), request.clone()), &request)
                    .await
                    .unwrap();
            if order == Order::Any {
                found.sort();
            }
            assert_eq!(found.len(), 3_000, "{spec}");
            assert!(found.is_sorted_by(|left, right| left < right), "{spec}");
            let (pieces, error) =
                collect(&mut list(versions(client(&server), "synthetic"), request)).await;
            assert!(error.is_none(), "{error:?}");
            let count: usize = pieces.iter().map(|page_range| page_range.page.versions.len()).sum();
            assert_eq!(count, 3_000, "{spec}");
        }
        server.shutdown().await;
    }
}
