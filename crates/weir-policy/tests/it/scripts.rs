//! Generates random scripts from a shell grammar and then damages them.

/// Maximum length of a script. Longer ones only deepen the other parser's stack.
const MAX_SCRIPT_CHARS: usize = 300;

/// Pieces of shell that change the meaning of what surrounds them.
const NASTY: &[&str] = &[
    "'", "\"", "`", "$(", ")", "${", "}", "\\", "\n", " ", "\t", ";", "&", "|", "#", "<", ">", "<<", "<<-", "<<<",
    "$'", "$\"", "((", "))", "[[", "]]", "[", "]", "{", "=", "!", "*", "?", "~", "$", "\\\n", "evil", " evil ", "EOF",
    "\nEOF\n", "<<EOF\n", ">&", "&>", "<(", ">(", ";;", "esac", "done", "fi", "then", "do", "in", "case ", "-", "+",
    ":", "@", "%", "\u{a0}", "é", "0", "1>", "2>&1", "a=", "a+=(", "function ", "() ", "time ", "coproc ",
];

/// A deterministic pseudo-random number generator.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    /// Returns a script, taken from one of the lists or generated, and then damaged.
    pub(crate) fn script(&mut self) -> String {
        let mut script = match self.below(4) {
            0 => self.pick(crate::attacks::ATTACKS).to_owned(),
            1 => self.pick(crate::everyday::EVERYDAY).to_owned(),
            _ => self.statements(3),
        };
        for _ in 0..self.below(4) {
            self.mutate(&mut script);
        }
        while script.chars().count() > MAX_SCRIPT_CHARS {
            script.pop();
        }
        script
    }

    fn mutate(&mut self, script: &mut String) {
        let mut chars: Vec<char> = script.chars().collect();
        let at = self.below(chars.len() + 1);
        match self.below(4) {
            0 if !chars.is_empty() => {
                let end = (at + 1 + self.below(4)).min(chars.len());
                chars.drain(at.min(end)..end);
            }
            1 => {
                let from = self.below(chars.len() + 1);
                let to = (from + self.below(8)).min(chars.len());
                let piece: Vec<char> = chars[from..to].to_vec();
                chars.splice(at..at, piece);
            }
            _ => drop(chars.splice(at..at, self.pick(NASTY).chars())),
        }
        *script = chars.into_iter().collect();
    }

    fn statements(&mut self, depth: usize) -> String {
        const BETWEEN: &[&str] = &["; ", "\n", " && ", " || ", " | ", " & ", " |& ", ";\n", " # c\n"];
        let mut text = self.statement(depth);
        for _ in 0..self.below(3) {
            text += self.pick(BETWEEN);
            text += &self.statement(depth);
        }
        text
    }

    fn statement(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.simple(0);
        }
        let below = depth - 1;
        match self.below(16) {
            0 => format!("( {} )", self.statements(below)),
            1 => format!("{{ {}; }}", self.statements(below)),
            2 => format!("if {}; then {}; else {}; fi", self.simple(below), self.statements(below), self.simple(below)),
            3 => format!("for x in {} {}; do {}; done", self.word(below), self.word(below), self.statements(below)),
            4 => format!("while {}; do {}; done", self.simple(below), self.statements(below)),
            5 => format!(
                "case {} in {}) {};; *) {};; esac",
                self.word(below),
                self.word(below),
                self.statements(below),
                self.simple(below)
            ),
            6 => format!("f() {{ {}; }}", self.statements(below)),
            7 => format!("! {}", self.simple(below)),
            8 => format!("[[ {} == {} ]]", self.word(below), self.word(below)),
            9 => format!("{} <<EOF\n{}\nEOF\n{}", self.simple(below), self.word(below), self.simple(below)),
            10 => format!("{} <<'EOF'\n{}\nEOF\n{}", self.simple(below), self.word(below), self.simple(below)),
            _ => self.simple(depth),
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        let name = self.pick(&[
            "ls", "evil", "echo", "cat", "grep", "true", "e'v'il", "\\evil", "\"evil\"", "git", "export", "x.sh",
            "printf", "read",
        ]);
        let mut text = String::new();
        if self.below(6) == 0 {
            text += &format!("A={} ", self.word(depth));
        }
        text += name;
        for _ in 0..self.below(4) {
            text.push(' ');
            text += &self.word(depth);
        }
        match self.below(8) {
            0 => text += " > out",
            1 => text += " 2>&1",
            2 => text += &format!(" < {}", self.word(depth)),
            _ => {}
        }
        text
    }

    fn word(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self
                .pick(&[
                    "a", "-x", "b.c", "'d e'", "\"f g\"", "$h", "${i}", "*.j", "k\\ l", "~/m", "n#o", "p=q", "{r,s}",
                    "1",
                ])
                .to_owned();
        }
        let below = depth - 1;
        match self.below(14) {
            0 => format!("$({})", self.statements(below)),
            1 => format!("`{}`", self.simple(0)),
            2 => format!("\"t $({}) u\"", self.simple(below)),
            3 => format!("<({})", self.simple(below)),
            4 => format!("${{v:-{}}}", self.word(below)),
            5 => format!("$((1 + {}))", self.pick(&["2", "x", "$y", "$(echo 3)"])),
            6 => format!("{}{}", self.word(below), self.word(below)),
            7 => format!("${{w//{}/{}}}", self.pick(&["a", "b*", "/"]), self.word(below)),
            8 => format!("\"${{z:-{}}}\"", self.word(below)),
            _ => self.word(0),
        }
    }
}
