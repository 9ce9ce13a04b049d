//! The keys of `browse`.

/// The keys as the help shows them.
pub(crate) const HELP: [(&str, &str); 24] = [
    ("Up Down PgUp PgDn Home End", "move"),
    ("Enter Right", "open a folder; preview an object"),
    ("Left Backspace", "the folder above"),
    ("1 2 3 4 5", "sort by name, size, objects, time, class"),
    ("s S", "sort by the next column; turn the order round"),
    ("/", "show names that hold what is typed; Esc ends that"),
    ("space", "mark an object or a folder"),
    ("a i", "mark all that is shown; invert the marks"),
    ("Esc", "end the filter, take the marks off, leave"),
    ("v", "versions of the object or folder"),
    ("d", "delete, once a plan is confirmed"),
    ("t", "add tags (KEY=VALUE,...) or remove them (-KEY,...)"),
    ("c", "move to another storage class"),
    ("r", "restore from an archive class"),
    ("g", "download"),
    ("u", "bring back what was removed (versions)"),
    ("D", "delete with all versions, for good (versions)"),
    ("y Y", "copy the address; in a plan its commands (Y)"),
    ("L", "list anew"),
    ("T", "tags of the object (preview)"),
    ("n", "the next rows of a folder that is too large"),
    ("?", "this help"),
    ("Ctrl-C", "cancel what runs, or leave"),
    ("q", "leave"),
];
