//! JavaScript functions over keys and objects.
