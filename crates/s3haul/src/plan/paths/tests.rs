//! Tests of the path rules.
