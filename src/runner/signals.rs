//! Ctrl-C and its relatives: the first asks the run to end, the second ends it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Takes SIGINT, SIGTERM and SIGHUP over (once per process) and says where they are noted.
pub fn watch() -> &'static AtomicBool {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        // Where somebody else has taken them over, it is theirs to end this process.
        let _ = ctrlc::set_handler(|| {
            if ASKED.swap(true, Ordering::Relaxed) {
                // Children notice that this process is gone, stop and clean up.
                std::process::exit(2);
            }
        });
    });
    &ASKED
}
