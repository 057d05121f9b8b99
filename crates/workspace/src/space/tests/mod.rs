//! Spaces without a cage: uppers are written here the way the kernel would.

mod closed;
mod crashing;
mod destroying;
mod exporting;
mod looking;
mod ordinary;
mod placing;
mod proving;
mod random;
mod returning;
mod sealing;
mod twins;
mod vast;
mod world;
