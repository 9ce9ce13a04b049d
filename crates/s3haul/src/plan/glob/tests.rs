//! Tests of the matcher.
