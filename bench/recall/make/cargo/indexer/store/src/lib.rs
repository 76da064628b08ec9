use serde::{Deserialize, Serialize};
use std::io::Read;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Posting {
    pub doc: u32,
    pub positions: Vec<u32>,
}

pub fn encode(postings: &[Posting]) -> Vec<u8> {
    let unused_header = [0u8; 4];
    bincode::serialize(postings).unwrap()
}

pub fn decode(bytes: &[u8]) -> Result<Vec<Posting>, bincode::Error> {
    bincode::deserialize(bytes)
}
