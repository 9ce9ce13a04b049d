//! Serves a store until interrupted: `serve [ADDRESS [DIRECTORY]]`.

use s3haul_sim::{SimError, SimServer};

#[tokio::main]
async fn main() -> Result<(), SimError> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let mut builder = SimServer::builder();
    if let Some(directory) = arguments.next() {
        builder = builder.disk(directory);
    }
    let server = builder.bind(address).await?;
    #[expect(clippy::print_stdout, reason = "an example talks to its user")]
    {
        println!("{}", server.endpoint_url());
    }
    let _ = tokio::signal::ctrl_c().await;
    server.shutdown().await;
    Ok(())
}
