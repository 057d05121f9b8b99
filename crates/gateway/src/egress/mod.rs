//! Requests of a cage to hosts that are allowed, and to nobody else.
