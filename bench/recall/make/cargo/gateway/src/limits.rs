use std::time::Instant;

#[derive(Clone)]
pub struct Bucket {
    capacity: u32,
    burst: u32,
}

impl Bucket {
    pub fn new(capacity: u32) -> Self {
        let mut bucket = Bucket { capacity, burst: capacity * 2 };
        bucket
    }

    fn refill(&mut self) {
        self.capacity += 1;
    }

    pub fn take(&mut self) -> bool {
        if self.capacity == 0 {
            return false;
        }
        self.capacity -= 1;
        true
    }
}
