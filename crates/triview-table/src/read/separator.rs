//! What stands between the fields of a text table, told by its first two rows.

use crate::error::Error;
use crate::read::location::Location;
use std::io::Read;

/// What may stand there, the likeliest first.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];
/// How many bytes are looked at: two rows of thousands of columns.
const HEAD: u64 = 1 << 20;

/// The separator of a file.
pub(crate) fn separator(location: &Location) -> Result<u8, Error> {
    let mut head = Vec::new();
    location.open()?.take(HEAD).read_to_end(&mut head).map_err(|source| location.unreadable(source))?;
    Ok(of_head(&head))
}

/// The one that both the header and the first row have most often, outside quotes: names of columns may have one of the others
/// in them (`a;1`), and so may numbers (a decimal comma), but not both at once.
fn of_head(head: &[u8]) -> u8 {
    let mut rows = [[0_usize; SEPARATORS.len()]; 2];
    let (mut row, mut quoted, mut begun) = (0, false, false);
    for byte in head {
        match byte {
            b'\n' | b'\r' if !quoted => {
                row += usize::from(begun);
                begun = false;
                if row == rows.len() {
                    break;
                }
                continue;
            }
            b'"' => quoted = !quoted,
            _ if quoted => {}
            _ => {
                if let Some(at) = SEPARATORS.iter().position(|separator| separator == byte) {
                    rows[row][at] += 1;
                }
            }
        }
        begun = true;
    }
    let [header, first] = rows;
    let only_header = row == 0 || (row == 1 && !begun);
    let in_both = |at: usize| if only_header { header[at] } else { header[at].min(first[at]) };
    let most = |count: &dyn Fn(usize) -> usize| {
        let more = |best: usize, at: usize| if count(at) > count(best) { at } else { best };
        (1..SEPARATORS.len()).fold(0, more)
    };
    let best = most(&in_both);
    // A first row of another shape is refused in words, which the header's separator makes the clearest.
    SEPARATORS[if in_both(best) > 0 { best } else { most(&|at| header[at]) }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_rows_are_counted() {
        assert_eq!(of_head(b"a:0,a:1\n1,2\n"), b',');
        assert_eq!(of_head(b"a:0;a:1\r\n1,5;2,5\r\n"), b';');
        assert_eq!(of_head(b"a:0\ta:1\n1\t2\n"), b'\t');
        assert_eq!(of_head(b"a;0,a;1,b;0\n1,2,3\n"), b',');
        assert_eq!(of_head(b"\n\na:0;a:1"), b';');
        assert_eq!(of_head(b"\"a;b;c\",\"d\"\n\"x;y\",1\n"), b',');
        assert_eq!(of_head(b"a;b;c\nlonely\n"), b';');
        assert_eq!(of_head(b"one\n1\n"), b',');
    }
}
