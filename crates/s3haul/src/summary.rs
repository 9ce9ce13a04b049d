//! Figures of a bucket, gathered from the pages of its listing in bounded memory.
