//! `cargo xtask rooms`: prints the imports between packages and rooms.

use crate::step;

pub(crate) fn run() -> Result<(), String> {
    let rooms::Rooms { text, wrong } = rooms::read_rooms(&step::root())?;
    print!("{text}");
    if wrong.is_empty() { Ok(()) } else { Err(format!("wrong imports:\n  {}", wrong.join("\n  "))) }
}
