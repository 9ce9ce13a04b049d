//! The whole terminal as a screen: taken over, keys read, cells drawn. What is shown is not known
//! here: `browse` and `watch` decide. And a question on it whose answer is not shown.

#[cfg(unix)]
mod ask;
mod canvas;
mod keys;
mod lines;
mod screen;
mod text;

#[cfg(unix)]
pub(crate) use ask::{ask, restore};
pub(crate) use canvas::{Canvas, split, width};
pub(crate) use keys::Key;
pub(crate) use lines::{Line, help, scroll};
pub(crate) use screen::{Input, Screen, read_inputs};
pub(crate) use text::{bar, content, counted, minute, number_of, safe, size, sparkline};
