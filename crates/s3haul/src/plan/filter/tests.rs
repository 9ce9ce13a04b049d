//! Tests of the filters.
