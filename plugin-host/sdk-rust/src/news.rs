use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::failure::{Code, Failure, Result};

/// Lines of progress that nobody has read yet; older ones make room for newer ones.
const MAX_WAITING_LINES: usize = 256;
/// Output that nobody has read yet; beyond it the tool waits.
const MAX_WAITING_BYTES: usize = 1024 * 1024;
/// The most that one message carries; small pieces that wait are joined up to here.
const PIECE_BYTES: usize = 64 * 1024;

#[derive(Debug, PartialEq)]
pub(crate) enum Piece {
    Progress(String),
    Output(Vec<u8>),
}

/// What a tool has said and the host has not read yet, in order.
#[derive(Default)]
pub(crate) struct NewsQueue {
    state: Mutex<State>,
    /// For the one who reads: something was said.
    stirred: Notify,
    /// For those who write: there may be room.
    room: Notify,
}

#[derive(Default)]
struct State {
    pieces: VecDeque<Piece>,
    lines: usize,
    bytes: usize,
    over: bool,
}

impl NewsQueue {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn progress(&self, line: String) {
        let mut state = self.state();
        if state.over {
            return;
        }
        state.pieces.push_back(Piece::Progress(line));
        state.lines += 1;
        if state.lines > MAX_WAITING_LINES {
            let oldest = state.pieces.iter().position(|piece| matches!(piece, Piece::Progress(_)));
            oldest.and_then(|at| state.pieces.remove(at));
            state.lines -= 1;
        }
        drop(state);
        self.stirred.notify_one();
    }

    /// Waits until there is room for more. Fails when the call is over.
    pub(crate) async fn write(&self, data: &[u8]) -> Result<()> {
        for piece in data.chunks(PIECE_BYTES) {
            loop {
                let mut room = pin!(self.room.notified());
                // From here on no word of room is missed.
                room.as_mut().enable();
                let full = {
                    let mut state = self.state();
                    if state.over {
                        return Err(Failure::new(
                            Code::Unavailable,
                            "nobody waits for the output of this call any more",
                        ));
                    }
                    let full = state.bytes >= MAX_WAITING_BYTES;
                    if !full {
                        state.bytes += piece.len();
                        state.pieces.push_back(Piece::Output(piece.to_vec()));
                    }
                    full
                };
                if !full {
                    break;
                }
                room.await;
            }
            self.stirred.notify_one();
        }
        Ok(())
    }

    /// The next piece, if there is one.
    pub(crate) fn take(&self) -> Option<Piece> {
        let mut state = self.state();
        let mut data = match state.pieces.pop_front()? {
            Piece::Output(data) => data,
            line => {
                state.lines -= 1;
                return Some(line);
            }
        };
        state.bytes -= data.len();
        while let Some(Piece::Output(next)) = state.pieces.front() {
            if data.len() + next.len() > PIECE_BYTES {
                break;
            }
            data.extend_from_slice(next);
            state.bytes -= next.len();
            state.pieces.pop_front();
        }
        drop(state);
        self.room.notify_waiters();
        Some(Piece::Output(data))
    }

    /// Waits for the next piece. For one reader; nothing is lost when it stops waiting.
    pub(crate) async fn next(&self) -> Piece {
        loop {
            if let Some(piece) = self.take() {
                return piece;
            }
            self.stirred.notified().await;
        }
    }

    /// Nobody reads any more.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        state.over = true;
        state.pieces.clear();
        drop(state);
        self.room.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[tokio::test]
    async fn small_pieces_that_wait_are_joined_and_lines_stand_between() {
        let news = NewsQueue::default();
        news.write(b"one ").await.unwrap();
        news.write(b"two").await.unwrap();
        news.progress("half".to_owned());
        news.write(b"three").await.unwrap();
        assert_eq!(news.next().await, Piece::Output(b"one two".to_vec()));
        assert_eq!(news.next().await, Piece::Progress("half".to_owned()));
        assert_eq!(news.next().await, Piece::Output(b"three".to_vec()));
        assert_eq!(news.take(), None);
    }

    #[tokio::test]
    async fn the_oldest_lines_make_room_for_the_newest() {
        let news = NewsQueue::default();
        for line in 0..MAX_WAITING_LINES + 3 {
            news.progress(line.to_string());
        }
        assert_eq!(news.take(), Some(Piece::Progress("3".to_owned())));
    }

    #[tokio::test]
    async fn a_writer_waits_for_its_reader_and_goes_when_that_is_gone() {
        let news = Arc::new(NewsQueue::default());
        let writer = tokio::spawn({
            let news = Arc::clone(&news);
            async move { news.write(&vec![0; 3 * MAX_WAITING_BYTES]).await }
        });
        let mut read = 0;
        while read < MAX_WAITING_BYTES + 1 {
            match news.next().await {
                Piece::Output(data) => read += data.len(),
                Piece::Progress(_) => unreachable!("nobody told of progress"),
            }
        }
        assert!(!writer.is_finished());
        news.end();
        assert_eq!(writer.await.unwrap().unwrap_err().code, Code::Unavailable);
    }
}
