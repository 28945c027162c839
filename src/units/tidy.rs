//! Go's unit tokens (go.md a.9).
