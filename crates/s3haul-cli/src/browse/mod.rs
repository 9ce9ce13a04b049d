//! The screen of `browse`: what is shown and what keys do. Knows no service: what has to be asked
//! is an [`Ask`], what came of it an [`Answer`]; `commands/browse` stands between the two.

mod action;
mod app;
mod help;
mod marks;
mod panes;
mod rows;
mod tree;
mod view;

pub(crate) use action::Step;
pub(crate) use app::{Answer, App, Ask, Place};
pub(crate) use panes::{Listed, Outcome, Planned, Preview, VersionRow};
pub(crate) use rows::Row;
pub(crate) use tree::{Listing, Object, SharedTree};
pub(crate) use view::{Look, draw};
