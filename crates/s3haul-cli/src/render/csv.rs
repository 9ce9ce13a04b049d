//! Comma-separated values as RFC 4180 has them, with line feeds.

use s3haul_wire::units::is_plain;

/// Appends a row.
pub(crate) fn push_row(buffer: &mut Vec<u8>, cells: &[&str]) {
    for (index, cell) in cells.iter().enumerate() {
        if index > 0 {
            buffer.push(b',');
        }
        push_cell(buffer, cell);
    }
    buffer.push(b'\n');
}

/// Appends a cell.
pub(crate) fn push_cell(buffer: &mut Vec<u8>, cell: &str) {
    if is_plain(cell) || !cell.contains([',', '"', '\n', '\r']) {
        return buffer.extend_from_slice(cell.as_bytes());
    }
    buffer.push(b'"');
    for byte in cell.bytes() {
        if byte == b'"' {
            buffer.push(b'"');
        }
        buffer.push(byte);
    }
    buffer.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let mut buffer = Vec::new();
        push_row(&mut buffer, &["a b", "", "x,y", "say \"no\"", "1\n2", "é"]);
        assert_eq!(
            String::from_utf8(buffer).unwrap(),
            "a b,,\"x,y\",\"say \"\"no\"\"\",\"1\n2\",é\n"
        );
    }
}
