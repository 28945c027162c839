//! RocksDB libraries inside a rocksdbjni jar: a zip whose members for each system export the C API too.
//!
//! Member names: `librocksdbjni-linux64.so`, `-linux64-musl.so`, `-linux-aarch64[-musl].so`, `-linux-ppc64le`, `-linux-s390x`, `-linux-riscv64`,
//! `librocksdbjni-osx-{arm64,x86_64}.jnilib`, `librocksdbjni-win64.dll`. Jars with a classifier hold one of them.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::{Error, Result};

/// A library is at most this large; that of RocksDB 10 with all its symbols is 80 MB. More is a jar made to fill the disk.
const LARGEST: u64 = 1 << 30;

/// Members named in a message.
const NAMED: usize = 20;

/// The file is a jar (or zip) by its name.
pub fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("jar") || e.eq_ignore_ascii_case("zip"))
}

/// Name of the member for a system, in the words of [`std::env::consts`]; `musl` is the C library of this process, which the member shares.
fn member(os: &str, arch: &str, musl: bool) -> Option<String> {
    let musl = if musl { "-musl" } else { "" };
    Some(match (os, arch) {
        ("linux", "x86_64") => format!("librocksdbjni-linux64{musl}.so"),
        ("linux", "x86") => format!("librocksdbjni-linux32{musl}.so"),
        ("linux", "powerpc64") => format!("librocksdbjni-linux-ppc64le{musl}.so"),
        ("linux", arch @ ("aarch64" | "s390x" | "riscv64")) => format!("librocksdbjni-linux-{arch}{musl}.so"),
        ("macos", "aarch64") => "librocksdbjni-osx-arm64.jnilib".to_owned(),
        ("macos", "x86_64") => "librocksdbjni-osx-x86_64.jnilib".to_owned(),
        ("windows", "x86_64") => "librocksdbjni-win64.dll".to_owned(),
        _ => return None,
    })
}

/// Writes the member of `jar` for this system into directory `to` and returns its path.
///
/// # Errors
/// The jar cannot be read, or has no member for this system (the message lists those it has).
pub fn extract(jar: &Path, to: &Path) -> Result<PathBuf> {
    let error = |message: String| Error::File { path: jar.display().to_string(), message };
    let file = File::open(jar).map_err(|e| error(e.to_string()))?;
    let mut archive = zip::ZipArchive::new(file).map_err(|e| error(format!("not a readable jar: {e}")))?;
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let wanted = member(os, arch, cfg!(target_env = "musl"))
        .ok_or_else(|| error(format!("rocksdbjni has no library for {os} on {arch}")))?;
    let Some(index) = archive.index_for_name(&wanted) else {
        let mut have: Vec<String> = archive
            .file_names()
            .flatten()
            .filter(|n| n.starts_with("librocksdbjni-"))
            .map(|n| n.into_owned())
            .collect();
        have.sort_unstable();
        let more = have.len().saturating_sub(NAMED);
        have.truncate(NAMED);
        if more > 0 {
            have.push(format!("{more} more"));
        }
        let have = if have.is_empty() { "no RocksDB library at all".to_owned() } else { have.join(", ") };
        return Err(error(format!("expected {wanted} in the jar, found {have}")));
    };
    let mut entry = archive.by_index(index).map_err(|e| error(e.to_string()))?;
    // The name is one of the literals above, so it cannot lead out of the directory.
    let target = to.join(&wanted);
    let mut out = File::create_new(&target).map_err(|e| error(format!("cannot write {}: {e}", target.display())))?;
    copy(&mut entry, &mut out, LARGEST).map_err(|e| error(format!("{wanted}: {e}")))?;
    Ok(target)
}

/// Copies at most `limit` bytes, whatever the jar says of their number.
fn copy(from: &mut impl Read, to: &mut impl Write, limit: u64) -> io::Result<()> {
    let copied = io::copy(&mut from.take(limit + 1), to)?;
    if copied > limit {
        return Err(io::Error::other(format!("larger than {} MiB, which no library is", limit >> 20)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_named_as_in_the_published_jars() {
        for (os, arch, musl, name) in [
            ("linux", "x86_64", false, "librocksdbjni-linux64.so"),
            ("linux", "x86_64", true, "librocksdbjni-linux64-musl.so"),
            ("linux", "aarch64", false, "librocksdbjni-linux-aarch64.so"),
            ("linux", "powerpc64", true, "librocksdbjni-linux-ppc64le-musl.so"),
            ("macos", "aarch64", false, "librocksdbjni-osx-arm64.jnilib"),
        ] {
            assert_eq!(member(os, arch, musl).as_deref(), Some(name));
        }
        assert_eq!(member("plan9", "x86_64", false), None);
    }

    #[test]
    fn a_jar_of_another_system_is_refused_with_what_it_has() {
        let dir = tempfile::tempdir().unwrap();
        let jar = dir.path().join("x.jar");
        let mut zip = zip::ZipWriter::new(File::create(&jar).unwrap());
        zip.start_file("librocksdbjni-linux-vax.so", zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(b"x").unwrap();
        zip.finish().unwrap();
        let text = extract(&jar, dir.path()).unwrap_err().to_string();
        assert!(text.contains("found librocksdbjni-linux-vax.so"), "{text}");
        std::fs::write(&jar, "no zip").unwrap();
        assert!(extract(&jar, dir.path()).unwrap_err().to_string().contains("not a readable jar"));
    }

    #[test]
    fn a_member_that_unpacks_without_end_is_given_up() {
        let packed = {
            let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
            zip.start_file("x", zip::write::SimpleFileOptions::default()).unwrap();
            for _ in 0..64 {
                zip.write_all(&[0; 1 << 16]).unwrap();
            }
            zip.finish().unwrap()
        };
        assert!(packed.get_ref().len() < 1 << 14);
        let mut archive = zip::ZipArchive::new(packed).unwrap();
        let mut unpacked = Vec::new();
        let error = copy(&mut archive.by_index(0).unwrap(), &mut unpacked, 1 << 20).unwrap_err().to_string();
        assert!(error.contains("larger than 1 MiB"), "{error}");
        assert_eq!(unpacked.len(), (1 << 20) + 1);
        copy(&mut archive.by_index(0).unwrap(), &mut Vec::new(), 4 << 20).unwrap();
    }

    #[test]
    fn a_jar_with_many_members_is_not_listed_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let jar = dir.path().join("x.jar");
        let mut zip = zip::ZipWriter::new(File::create(&jar).unwrap());
        for n in 0..5000 {
            zip.start_file(format!("librocksdbjni-other{n:04}.so"), zip::write::SimpleFileOptions::default()).unwrap();
        }
        zip.finish().unwrap();
        let text = extract(&jar, dir.path()).unwrap_err().to_string();
        assert!(text.ends_with("librocksdbjni-other0019.so, 4980 more") && text.len() < 1000, "{text}");
    }
}
