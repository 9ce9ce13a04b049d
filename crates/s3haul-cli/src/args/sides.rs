//! Flags of one side of a command on two places.

use clap::Args;

/// Where source and target are, where that is not what the plain flags say.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SidesArgs {
    /// Use this profile for the source. --profile applies to a side without a profile of its own.
    #[arg(long, value_name = "NAME")]
    #[arg(help_heading = "Two services, accounts or regions")]
    pub(crate) source_profile: Option<String>,
    /// Send requests for the source to this URL. --endpoint-url applies to a side without a URL of
    /// its own.
    #[arg(long, value_name = "URL")]
    #[arg(help_heading = "Two services, accounts or regions")]
    pub(crate) source_endpoint_url: Option<String>,
    /// The region of the source bucket, if it differs from --region. --endpoint-url then does not
    /// apply to the source, as in aws s3.
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
    /// The region of the target bucket, if it differs from --region.
    #[arg(long, value_name = "REGION")]
    #[arg(help_heading = "Two services, accounts or regions")]
    pub(crate) target_region: Option<String>,
    /// Do not sign requests for the target.
    #[arg(long)]
    #[arg(help_heading = "Two services, accounts or regions")]
    pub(crate) target_no_sign_request: bool,
}
