//! The s3haul library.
