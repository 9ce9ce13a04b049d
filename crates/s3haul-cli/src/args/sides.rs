//! Flags of one side of a command on two places.

use clap::Args;

/// Where source and target are, where that is not what the plain flags say.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SidesArgs {
    /// Use this profile for the source. --profile applies to the side that has none of its own.
    #[arg(long, value_name = "NAME")]
    #[arg(help_heading = "Two services, accounts or regions")]
    pub(crate) source_profile: Option<String>,
    /// Send requests for the source to this URL. --endpoint-url applies to the side that has none
    /// of its own.
    #[arg(long, value_name = "URL")]
    #[arg(help_heading = "Two services, accounts or regions")]
    pub(crate) source_endpoint_url: Option<String>,
    /// The region of the source bucket, where it is not that of --region. --endpoint-url does not
    /// apply to the source then, as in aws s3.
    #[arg(long, value_name = "REGION")]
    #[arg(help_heading = "Two services, accounts or regions")]
    pub(crate) source_region: Option<String>,
    /// Do not sign requests for the source.
    #[arg(long)]
    #[arg(help_heading = "Two services, accounts or regions")]
    pub(crate) source_no_sign_request: bool,
    /// Use this profile for the target.
    #[arg(long, value_name = "NAME")]
    #[arg(help_heading = "Two services, accounts or regions")]
    pub(crate) target_profile: Option<String>,
    /// Send requests for the target to this URL.
    #[arg(long, value_name = "URL")]
    #[arg(help_heading = "Two services, accounts or regions")]
    pub(crate) target_endpoint_url: Option<String>,
    /// The region of the target bucket, where it is not that of --region.
    #[arg(long, value_name = "REGION")]
    #[arg(help_heading = "Two services, accounts or regions")]
    pub(crate) target_region: Option<String>,
    /// Do not sign requests for the target.
    #[arg(long)]
    #[arg(help_heading = "Two services, accounts or regions")]
    pub(crate) target_no_sign_request: bool,
}
