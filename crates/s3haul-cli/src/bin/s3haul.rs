//! The s3haul command.
fn main() {}
