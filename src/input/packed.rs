//! Compressed bytes to bytes, a block at a time: gzip and zstd, several members or frames one after the other.
//!
//! What comes before a cut or damaged place is handed out, then the error says which of the two it is. zstd: skippable frames are passed
//! over, checksums are compared; frames that need a dictionary or a window above 128 MiB (what `zstd` itself takes) are errors.

use std::io::{self, BufReader, Read};

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// `head` begins a gzip member.
pub fn is_gzip(head: &[u8]) -> bool {
    head.starts_with(&[0x1f, 0x8b])
}

/// `head` begins a zstd frame, or one of those that are passed over.
pub fn is_zstd(head: &[u8]) -> bool {
    match head {
        [0x28, 0xb5, 0x2f, 0xfd, ..] => true,
        [first, 0x2a, 0x4d, 0x18, ..] => first & 0xf0 == 0x50,
        _ => false,
    }
}

/// A reader of what is packed in `input` by gzip.
pub fn gzip(input: impl Read + Send) -> impl Read + Send {
    Gzip(MultiGzDecoder::new(input))
}

/// A reader of what is packed in `input` by zstd.
pub fn zstd(input: impl Read + Send) -> impl Read + Send {
    let input = Watched { input: BufReader::with_capacity(1 << 16, input), ended: false, failure: None };
    Zstd { input, frame: FrameDecoder::new(), state: State::Between }
}

fn cut(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, format!("the {what} data ends too early"))
}

fn damaged(what: &str, how: &dyn std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the {what} data is damaged: {how}"))
}

struct Gzip<R>(MultiGzDecoder<R>);

impl<R: Read> Read for Gzip<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        // What a call has unpacked before it meets damage is lost: little of it then.
        let most = buf.len().min(1 << 12);
        self.0.read(&mut buf[..most]).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => cut("gzip"),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData if e.raw_os_error().is_none() => {
                damaged("gzip", &e)
            }
            _ => e,
        })
    }
}

/// Remembers why a read gave less than was asked for: the decoder's errors do not tell.
struct Watched<R> {
    input: R,
    ended: bool,
    failure: Option<io::Error>,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.input.read(buf) {
            Ok(n) => {
                self.ended |= n == 0 && !buf.is_empty();
                Ok(n)
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Err(e),
            Err(e) => {
                let kind = e.kind();
                self.failure = Some(e);
                Err(kind.into())
            }
        }
    }
}

enum State {
    /// A frame may begin.
    Between,
    /// Blocks of a frame follow.
    Inside,
    /// What was decoded before the error is handed out, then the error.
    Failing(io::Error),
    /// Nothing follows.
    Ended,
}

struct Zstd<R: Read> {
    input: Watched<BufReader<R>>,
    frame: FrameDecoder,
    state: State,
}

impl<R: Read> Zstd<R> {
    /// Looks for the next frame.
    fn begin(&mut self) -> io::Result<State> {
        let mut magic = [0; 4];
        let mut filled = 0;
        while filled < magic.len() {
            match self.input.read(&mut magic[filled..]) {
                Ok(0) if filled == 0 => return Ok(State::Ended),
                Ok(0) => return Err(cut("zstd")),
                Ok(n) => filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.input.failure.take().unwrap_or(e)),
            }
        }
        match self.frame.reset(magic.as_slice().chain(&mut self.input)) {
            Ok(()) => Ok(State::Inside),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let length = u64::from(length);
                let skipped = io::copy(&mut (&mut self.input).take(length), &mut io::sink());
                match skipped {
                    Ok(n) if n == length => Ok(State::Between),
                    Ok(_) => Err(cut("zstd")),
                    Err(e) => Err(self.input.failure.take().unwrap_or(e)),
                }
            }
            Err(FrameDecoderError::DictNotProvided { .. }) => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "the zstd data needs the dictionary it was made with; unpack it with zstd -D",
            )),
            Err(FrameDecoderError::WindowSizeTooBig { .. }) => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "the zstd data needs a window of more than 128 MiB; unpack it with zstd --long=31",
            )),
            Err(e) => Err(self.why(&e)),
        }
    }

    /// Decodes one block; at the end of the frame its checksum is compared once everything was handed out.
    fn block(&mut self) -> io::Result<()> {
        match self.frame.decode_blocks(&mut self.input, BlockDecodingStrategy::UptoBlocks(1)) {
            Ok(_) => Ok(()),
            Err(e) => {
                let why = self.why(&e);
                // An empty last block and a checksum end the frame, so that what the window holds can be had.
                let end: &[u8] = &[1, 0, 0, 0, 0, 0, 0];
                let _ = self.frame.decode_blocks(end, BlockDecodingStrategy::UptoBlocks(1));
                Err(why)
            }
        }
    }

    fn why(&mut self, error: &FrameDecoderError) -> io::Error {
        match self.input.failure.take() {
            Some(e) => e,
            None if self.input.ended => cut("zstd"),
            None => damaged("zstd", error),
        }
    }

    fn checksum_differs(&self) -> bool {
        let said = self.frame.get_checksum_from_data();
        said.is_some() && said != self.frame.get_calculated_checksum()
    }
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            let next = match &self.state {
                State::Ended => return Ok(0),
                State::Between => self.begin(),
                State::Inside | State::Failing(_) if self.frame.can_collect() > 0 => return self.frame.read(buf),
                State::Inside if !self.frame.is_finished() => self.block().map(|()| State::Inside),
                State::Inside if self.checksum_differs() => Err(damaged("zstd", &"its checksum is another")),
                State::Inside => Ok(State::Between),
                State::Failing(_) => match std::mem::replace(&mut self.state, State::Ended) {
                    State::Failing(e) => return Err(e),
                    _ => return Ok(0),
                },
            };
            self.state = next.unwrap_or_else(State::Failing);
        }
    }
}
