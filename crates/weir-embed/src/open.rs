//! Loads a model from a folder in the layout of `model2vec`: `model.safetensors` next to `tokenizer.json` or
//! `vocab.txt`.
//!
//! Invariant: a file that is not understood is an error that names it, never a model that answers wrongly.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::rows::{TokenWeights, VectorTable};
use crate::tensors::{TensorNumbers, Tensors};
use crate::vocabulary::Vocabulary;
use crate::words::LetterNormalisation;
use crate::{EmbedError, StaticModel, latin, layout};

/// The names of the rows in the files of `model2vec` and of `sentence-transformers`.
const ROWS: [&str; 2] = ["embeddings", "embedding.weight"];

impl StaticModel {
    /// Loads the model in this folder into memory: one byte per number for a table of bytes, four for any other, and
    /// less than a megabyte per 30,000 tokens for the vocabulary.
    ///
    /// The files are read in full. The model's name is a hash of the table, so another table is another model.
    pub fn open(folder: &Path) -> Result<Self, EmbedError> {
        let file = |name: &str| folder.join(name);
        let unusable = |name: &str, why: String| EmbedError::Unusable(format!("{}: {why}", file(name).display()));
        let read = |name: &str| fs::read(file(name)).map_err(|error| unusable(name, error.to_string()));

        let (name, tokeniser) = if file("tokenizer.json").exists() {
            let bytes = read("tokenizer.json")?;
            ("tokenizer.json", Tokeniser::from_json(&bytes).map_err(|why| unusable("tokenizer.json", why))?)
        } else {
            ("vocab.txt", Tokeniser::from_list(&read("vocab.txt")?).map_err(|why| unusable("vocab.txt", why))?)
        };
        let bytes = read("model.safetensors")?;
        let mark = blake3::hash(&bytes).to_hex();
        let table =
            ModelTable::read(bytes, tokeniser.tokens.len()).map_err(|why| unusable("model.safetensors", why))?;

        let tokens: Vec<&str> = tokeniser.tokens.iter().map(String::as_str).collect();
        let vocabulary = layout::lay_out(&tokens).map_err(|why| unusable(name, why.to_owned()))?;
        let vocabulary = Vocabulary::new(Cow::Owned(vocabulary));
        Ok(Self {
            name: Cow::Owned(format!("static-{}-{}", table.width, &mark[..16])),
            width: table.width,
            unknown: vocabulary.number(&tokeniser.unknown),
            vocabulary,
            letters: tokeniser.letters,
            max_word_chars: tokeniser.max_word_chars,
            latin_only: is_latin_only(&tokens),
            rows: table.rows,
            token_weights: table.token_weights,
        })
    }
}

/// Returns whether a vocabulary was made from texts in Latin letters: that of English BERT has few other tokens.
fn is_latin_only(tokens: &[&str]) -> bool {
    tokens.iter().filter(|token| !latin::mostly(token)).count() * 10 < tokens.len()
}

/// The numbers of a model.
struct ModelTable {
    width: usize,
    rows: VectorTable,
    token_weights: TokenWeights,
}

impl ModelTable {
    fn read(bytes: Vec<u8>, tokens: usize) -> Result<Self, String> {
        let tensors = Tensors::read(bytes)?;
        let name = ROWS.into_iter().find(|name| tensors.shape(name).is_some());
        let name = name.ok_or_else(|| format!("it has no `{}`", ROWS[0]))?;
        let &[count, width] = tensors.shape(name).unwrap_or_default() else {
            return Err(format!("`{name}` has no rows and columns"));
        };
        if width == 0 {
            return Err(format!("`{name}` has rows without numbers"));
        }
        let token_weights = TokenWeights {
            rows: tensors.integers("mapping").transpose()?,
            weights: tensors.floats("weights").transpose()?,
        };
        check(&token_weights, count, tokens)?;
        let rows = match tensors.into_numbers(name)? {
            TensorNumbers::Bytes(bytes) => VectorTable::Bytes(Cow::Owned(bytes)),
            TensorNumbers::Floats(floats) => VectorTable::Floats(floats),
        };
        Ok(Self { width, rows, token_weights })
    }
}

fn check(token_weights: &TokenWeights, rows: usize, tokens: usize) -> Result<(), String> {
    let covered = match &token_weights.rows {
        Some(mapping) if mapping.iter().any(|&row| row as usize >= rows) => {
            return Err("`mapping` refers to rows that do not exist".to_owned());
        }
        Some(mapping) => mapping.len(),
        None => rows,
    };
    let weights = token_weights.weights.as_ref().map_or(tokens, Vec::len);
    if covered < tokens || weights < tokens {
        return Err(format!("{tokens} tokens, but rows for {covered} and weights for {weights}"));
    }
    Ok(())
}

/// How texts are split into tokens.
struct Tokeniser {
    tokens: Vec<String>,
    letters: LetterNormalisation,
    unknown: String,
    max_word_chars: usize,
}

/// The parts of `tokenizer.json` that are supported. Special tokens are treated as ordinary words.
#[derive(Deserialize)]
struct Json {
    normalizer: Normaliser,
    pre_tokenizer: Typed,
    model: Model,
}

#[derive(Deserialize)]
struct Typed {
    r#type: String,
}

#[derive(Deserialize)]
struct Normaliser {
    r#type: String,
    #[serde(default)]
    clean_text: bool,
    #[serde(default)]
    handle_chinese_chars: bool,
    strip_accents: Option<bool>,
    #[serde(default)]
    lowercase: bool,
}

#[derive(Deserialize)]
struct Model {
    r#type: Option<String>,
    unk_token: String,
    continuing_subword_prefix: String,
    max_input_chars_per_word: usize,
    vocab: HashMap<String, usize>,
}

impl Tokeniser {
    fn from_json(bytes: &[u8]) -> Result<Self, String> {
        let json: Json = serde_json::from_slice(bytes)
            .map_err(|error| format!("it does not describe a BERT WordPiece model: {error}"))?;
        let Json { normalizer, pre_tokenizer, model } = json;
        let understood = [
            (normalizer.r#type == "BertNormalizer", "a normalizer other than BertNormalizer"),
            (normalizer.clean_text, "a normalizer that keeps control characters"),
            (normalizer.handle_chinese_chars, "a normalizer that does not split ideographs"),
            (pre_tokenizer.r#type == "BertPreTokenizer", "a pre_tokenizer other than BertPreTokenizer"),
            (model.r#type.is_none_or(|name| name == "WordPiece"), "a model other than WordPiece"),
            (model.continuing_subword_prefix == "##", "a prefix of continuing tokens other than ##"),
        ];
        if let Some((_, what)) = understood.iter().find(|(as_wanted, _)| !as_wanted) {
            return Err(format!("{what} is not supported"));
        }
        let strip_accents = normalizer.strip_accents.unwrap_or(normalizer.lowercase);
        Ok(Self {
            tokens: in_order(model.vocab)?,
            letters: LetterNormalisation { lowercase: normalizer.lowercase, strip_accents },
            unknown: model.unk_token,
            max_word_chars: model.max_input_chars_per_word,
        })
    }

    /// Reads a list of tokens, one per line, for lower-case text: BERT's default.
    fn from_list(bytes: &[u8]) -> Result<Self, String> {
        let text = str::from_utf8(bytes).map_err(|error| error.to_string())?;
        Ok(Self {
            tokens: text.lines().map(str::to_owned).collect(),
            letters: LetterNormalisation { lowercase: true, strip_accents: true },
            unknown: "[UNK]".to_owned(),
            max_word_chars: 100,
        })
    }
}

/// Sorts the tokens by their numbers, which must have no gaps.
fn in_order(vocabulary: HashMap<String, usize>) -> Result<Vec<String>, String> {
    let mut tokens = vec![None; vocabulary.len()];
    for (token, number) in vocabulary {
        let slot = tokens.get_mut(number).ok_or("its token numbers have gaps")?;
        if slot.replace(token).is_some() {
            return Err("two of its tokens have the same number".to_owned());
        }
    }
    Ok(tokens.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::Embed;

    const TOKENISER: &str = r###"{"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,
        "strip_accents":null,"lowercase":true},"pre_tokenizer":{"type":"BertPreTokenizer"},"model":{"type":"WordPiece",
        "unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,
        "vocab":{"[UNK]":0,"a":1,"b":2}}}"###;

    /// One tensor of a file: its name, type, shape and bytes.
    type TestTensor<'a> = (&'a str, &'a str, &'a [usize], Vec<u8>);

    fn tensors(parts: &[TestTensor]) -> Vec<u8> {
        let (mut header, mut numbers) = (serde_json::Map::new(), Vec::new());
        for (name, dtype, shape, bytes) in parts {
            let offsets = [numbers.len(), numbers.len() + bytes.len()];
            let place = serde_json::json!({"dtype": dtype, "shape": shape, "data_offsets": offsets});
            header.insert((*name).to_owned(), place);
            numbers.extend_from_slice(bytes);
        }
        let header = serde_json::to_vec(&header).unwrap();
        [&(header.len() as u64).to_le_bytes(), &header[..], &numbers].concat()
    }

    fn floats(numbers: &[f32]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    fn open(tokeniser: &str, parts: &[TestTensor]) -> Result<StaticModel, String> {
        let folder = TempDir::new().unwrap();
        let name = if tokeniser.starts_with('{') { "tokenizer.json" } else { "vocab.txt" };
        fs::write(folder.path().join(name), tokeniser).unwrap();
        fs::write(folder.path().join("model.safetensors"), tensors(parts)).unwrap();
        // The folder has another name each time.
        StaticModel::open(folder.path())
            .map_err(|error| error.to_string().rsplit_once(['/', '\\']).map(|(_, rest)| rest.to_owned()).unwrap())
    }

    /// Checks the direction of `a b` in these tables.
    fn check(tokeniser: &str, parts: &[TestTensor], wanted: [f32; 2]) {
        let model = open(tokeniser, parts).unwrap();
        assert_eq!(model.width(), 2);
        let found = model.embed(&["a B! unknown"]).unwrap().remove(0).unwrap();
        assert!(found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-6), "{found:?}");
    }

    #[test]
    fn tables_of_every_kind_are_read() {
        let list = "[UNK]\na\nb\n";
        check(TOKENISER, &[("embeddings", "F32", &[3, 2], floats(&[9.0, 9.0, 3.0, 0.0, 0.0, 4.0]))], [0.6, 0.8]);
        check(list, &[("embedding.weight", "I8", &[3, 2], vec![9, 9, 0xFD, 0, 0, 4])], [-0.6, 0.8]);
        let halves = vec![0, 0, 0, 0, 0, 0x42, 0, 0, 0, 0, 0, 0x44];
        check(list, &[("embeddings", "F16", &[3, 2], halves)], [0.6, 0.8]);
    }

    #[test]
    fn weights_and_a_mapping_are_followed() {
        let rows = ("embeddings", "I8", &[2, 2][..], vec![0, 1, 1, 0]);
        let mapping = ("mapping", "I32", &[3][..], [0_i32, 1, 0].iter().flat_map(|n| n.to_le_bytes()).collect());
        let weights = ("weights", "F32", &[3][..], floats(&[0.0, 3.0, 4.0]));
        check(TOKENISER, &[rows, mapping, weights], [0.6, 0.8]);
    }

    #[test]
    fn another_table_has_another_name() {
        let name = |row: f32| {
            let rows = ("embeddings", "F32", &[3, 1][..], floats(&[0.0, row, 1.0]));
            open(TOKENISER, &[rows]).unwrap().name().to_owned()
        };
        assert_eq!(name(1.0), name(1.0));
        assert_ne!(name(1.0), name(2.0));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let rows = || ("embeddings", "F32", &[3, 1][..], floats(&[0.0, 1.0, 2.0]));
        let error = |tokeniser: &str, parts: &[TestTensor]| open(tokeniser, parts).unwrap_err();
        let other = TOKENISER.replace("BertPreTokenizer", "Metaspace");
        assert_eq!(
            error(&other, &[rows()]),
            "tokenizer.json: a pre_tokenizer other than BertPreTokenizer is not supported"
        );
        let gap = TOKENISER.replace("\"b\":2", "\"b\":7");
        assert_eq!(error(&gap, &[rows()]), "tokenizer.json: its token numbers have gaps");
        let few = ("embeddings", "F32", &[2, 1][..], floats(&[0.0, 1.0]));
        assert_eq!(error(TOKENISER, &[few]), "model.safetensors: 3 tokens, but rows for 2 and weights for 3");
        let mapping = ("mapping", "I32", &[1][..], 3_i32.to_le_bytes().to_vec());
        assert_eq!(
            error(TOKENISER, &[rows(), mapping]),
            "model.safetensors: `mapping` refers to rows that do not exist"
        );
        assert_eq!(error(TOKENISER, &[]), "model.safetensors: it has no `embeddings`");
        assert!(StaticModel::open(Path::new("no such folder")).is_err());
    }

    #[test]
    fn a_vocabulary_of_many_scripts_takes_texts_in_all_of_them() {
        let rows = || ("embeddings", "F32", &[3, 1][..], floats(&[0.0, 1.0, 2.0]));
        let embed = |list: &str, text| open(list, &[rows()]).unwrap().embed(&[text]).unwrap().remove(0);
        assert!(embed("[UNK]\nслово\nb\n", "слово").is_some());
        assert_eq!(embed("[UNK]\na\nb\n", "слово a"), None);
    }
}
