//! Scaling for people.
