//! People are told what waits for them: by a chat on this machine, and by letters through a server of mail that is not ours.

mod hooks;
mod letters;
mod owing;
mod rooms;
mod standing_in;
