//! Tests of guessed types.
