//! Generated text for measurements: word frequencies as in real text, the same in every run.

const VOCABULARY: u64 = 60_000;

/// A source of random numbers that is the same in every run.
pub(crate) struct RandomNumbers(u64);

impl RandomNumbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a rank by Zipf's law: the first words are very common, the last very rare.
    fn rank(&mut self) -> u64 {
        let share = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        (VOCABULARY as f64).powf(share) as u64
    }
}

pub(crate) fn word(rank: u64) -> String {
    const STARTS: [&str; 16] = ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "st", "tr"];
    const ENDS: [&str; 8] = ["a", "e", "i", "o", "u", "an", "el", "or"];
    let mut rest = rank + 128;
    let mut word = String::new();
    while rest > 0 {
        word.push_str(STARTS[(rest % 16) as usize]);
        word.push_str(ENDS[(rest / 16 % 8) as usize]);
        rest /= 128;
    }
    word
}

/// Returns about 300 bytes of text, with one word that no other text has.
pub(crate) fn paragraph(number: u64) -> String {
    let mut numbers = RandomNumbers::new(number + 1);
    let mut text = format!("unique{number} ");
    while text.len() < 300 {
        text.push_str(&word(numbers.rank()));
        text.push(if numbers.next().is_multiple_of(12) { '\n' } else { ' ' });
    }
    text
}
