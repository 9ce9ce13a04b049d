//! The command as a library.
