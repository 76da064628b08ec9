//! Tests what is redacted, what is not, and properties of any text.
//!
//! Sample secrets are assembled at run time from an alphabet, so that no scanner takes this file for a leak.

mod properties;
mod shapes;
mod stream;
mod visible_form;

use std::borrow::Cow;

use super::class::{ALNUM, ALPHA, AZURE, BASE64, Class, DIGIT, HEX, LOWER_ALNUM, UPPER_ALNUM};
use super::redact;
use super::rules::{Rule, RulePart, TOKENS};

#[track_caller]
fn check(input: &str, expected: &str) {
    let redacted = redact(input.as_bytes());
    assert_eq!(String::from_utf8_lossy(&redacted.text), expected, "for {input}");
    let again = redact(&redacted.text);
    assert_eq!(again.found, [], "a second time, for {input}");
}

/// Checks texts in which `§` is replaced by the secret.
#[track_caller]
fn check_each(texts: &[&str], secret: &str, rule: &str) {
    for text in texts {
        check(&text.replace('§', secret), &text.replace('§', &format!("[redacted:{rule}]")));
    }
}

/// Returns a string of `length` bytes that is in `class` and obviously made up.
fn fake(class: Class, length: usize) -> String {
    let alphabet = "7aK2mQ9xB4tR0fW6cZ1hL8dN3gV5eJyPsUuCkTvFwHzGrXqSpAnYbMjDiEo";
    alphabet.chars().filter(|&c| class.has(c as u8)).cycle().take(length).collect()
}

#[test]
fn every_rule_finds_a_token_of_its_shape() {
    for rule in TOKENS {
        let token = token_of(rule);
        let mark = format!("[redacted:{}]", rule.name);
        let kept = if rule.keeps_literal { rule.literal } else { "" };
        check(&format!("it is {token} here"), &format!("it is {kept}{mark} here"));
        check(&format!("\"{token}\",\n"), &format!("\"{kept}{mark}\",\n"));
    }
}

fn token_of(rule: &Rule) -> String {
    let lead = rule.lead.map_or_else(String::new, |(class, min, _)| fake(class, min));
    let parts = rule.body.iter().map(|part| match part {
        RulePart::Run(class, min, _) => fake(*class, *min),
        RulePart::Text(text) => (*text).to_owned(),
    });
    lead + rule.literal + &parts.collect::<String>()
}

#[test]
fn every_rule_can_be_named_in_a_mark() {
    for rule in TOKENS {
        let is_name_byte = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        assert!(rule.name.len() <= 40 && rule.name.bytes().all(is_name_byte), "{}", rule.name);
        assert!(rule.literal.len() >= 3, "{}", rule.literal);
    }
}

#[test]
fn well_known_tokens_are_found_where_they_stand() {
    let forms = [
        "§", "run with §.", "{\"out\":\"\\n§\\n\"}", "\x1b[1;32m§\x1b[0m", "?q=%3D§&b=1", "> `§`",
        "a\u{feff}§\u{2026}", "§\n§",
    ];
    let samples = [
        (format!("gh{}_{}", "p", fake(ALNUM, 36)), "github-pat"),
        (format!("github_{}_{}_{}", "pat", fake(ALNUM, 22), fake(ALNUM, 59)), "github-fine-grained-pat"),
        (format!("gl{}-{}", "pat", fake(ALNUM, 20)), "gitlab-pat"),
        (format!("gl{}-{}.01.0w{}", "pat", fake(ALNUM, 27), fake(LOWER_ALNUM, 7)), "gitlab-pat"),
        (format!("AK{}{}", "IA", fake(UPPER_ALNUM, 16)), "aws-access-key-id"),
        (format!("AI{}{}", "zaSy", fake(ALNUM, 33)), "gcp-api-key"),
        (format!("xo{}-{}-{}-{}", "xb", fake(DIGIT, 12), fake(DIGIT, 13), fake(ALNUM, 24)), "slack-token"),
        (format!("sk_{}_{}", "live", fake(ALNUM, 24)), "stripe-key"),
        (format!("sk-{}T3BlbkFJ{}", fake(ALNUM, 20), fake(ALNUM, 20)), "openai-api-key"),
        (format!("sk-{}-{}_{}", "proj", fake(ALNUM, 74), fake(ALNUM, 60)), "openai-api-key"),
        (format!("sk-{}-api03-{}-{}AA", "ant", fake(ALNUM, 50), fake(ALNUM, 42)), "anthropic-api-key"),
        (format!("hf{}{}", "_", fake(ALPHA, 34)), "huggingface-token"),
        (format!("np{}_{}", "m", fake(ALNUM, 36)), "npm-access-token"),
        (format!("py{}-AgEIcHlwaS5vcmc{}", "pi", fake(ALNUM, 120)), "pypi-token"),
        (format!("ci{}{}", "o", fake(ALNUM, 32)), "crates-io-token"),
        (format!("S{}.{}.{}", "G", fake(ALNUM, 22), fake(ALNUM, 43)), "sendgrid-api-key"),
        (format!("S{}{}", "K", fake(HEX, 32)), "twilio-api-key"),
        (format!("{}.atlas{}.{}", fake(ALNUM, 14), "v1", fake(ALNUM, 67)), "terraform-cloud-token"),
        (format!("do{}_v1_{}", "p", fake(HEX, 64)), "digitalocean-token"),
        (format!("hv{}.{}", "s", fake(ALNUM, 95)), "vault-service-token"),
        (format!("ey{}{}.eyJ{}.{}", "J", fake(ALNUM, 33), fake(ALNUM, 70), fake(ALNUM, 43)), "jwt"),
    ];
    for (token, rule) in samples {
        let has_lead = rule == "terraform-cloud-token";
        // A run before a literal does not end at an escape.
        let forms = if has_lead { &forms[..2] } else { &forms[..] };
        check_each(forms, &token, rule);
    }
    let telegram = format!("{}:A{}{}", fake(DIGIT, 10), "A", fake(ALNUM, 33));
    check_each(&["https://host/bot §/getMe", "§"], &telegram, "telegram-bot-token");
    let azure = format!("{}8{}~{}", fake(ALNUM, 3), "Q", fake(AZURE, 34));
    check_each(&["is §", "'§'"], &azure, "azure-client-secret");
}

#[test]
fn webhooks_keep_their_address() {
    let slack = format!("{}/{}/{}", fake(UPPER_ALNUM, 9), fake(UPPER_ALNUM, 11), fake(ALNUM, 24));
    check_each(&["curl https://hooks.slack.com/services/§ -d x"], &slack, "slack-webhook");
    let discord = format!("{}/{}", fake(DIGIT, 18), fake(ALNUM, 68));
    check_each(&["https://discord.com/api/webhooks/§"], &discord, "discord-webhook");
}

#[test]
fn values_of_telling_names_are_found() {
    let forms = [
        "client_secret=§",
        "client_secret = \"§\"",
        "CLIENT_SECRET='§'",
        "clientSecret: '§',",
        "const clientSecret = `§`;",
        "{\"access_token\":\"§\",\"expires\":3600}",
        "{\\\"access_token\\\": \\\"§\\\"}",
        "{\\\\\\\"access_token\\\\\\\": \\\\\\\"§\\\\\\\"}",
        "x-api-key: §",
        "API key: §",
        "config[\"auth_token\"] = \"§\"",
        ":secret_key => '§'",
        "apiKey := \"§\"",
        "SECRET_KEY_BASE=§",
        "token_2: §",
        "const API_KEY: &'static str = \"§\";",
        "api_key: str = b'§'",
        "curl 'https://host/path?a=1&token=§&b=2'",
        "<apiKey>§</apiKey>",
        "deploy --token § --now",
        "//registry/:_authToken=§",
        "NEXTAUTH_SECRET=§",
        "PAGERDUTY_API_KEY=§",
        "it says the token: §.",
        "  accesstoken: §  # of staging",
    ];
    for secret in [fake(ALNUM, 24), fake(HEX, 32), fake(LOWER_ALNUM, 20), fake(ALPHA, 28)] {
        check_each(&forms, &secret, "generic-secret");
    }
    check_each(&["Name=x;AccountKey=§;Suffix=y", "PrivateKey = §"], &(fake(BASE64, 43) + "="), "generic-secret");
}

#[test]
fn passwords_have_a_lower_bar_where_a_string_is_certain() {
    let strings = [
        "password = \"§\"", "\"password\": \"§\"", "PGPASSWORD=§ psql", "export DB_PASS=§",
        "  password: §\n  user: me", "mysql --password=§ --user=me", "Server=x;Pwd=§;Timeout=3",
        "<password>§</password>",
    ];
    for password in ["hunter2", "s3cr3t!", "P@ssw0rd", "geheim$parole"] {
        check_each(&strings, password, "password");
    }
    check_each(&["POSTGRES_PASSWORD=§", "POSTGRES_PASSWORD: §\n"], "swordfish", "password");
    check_each(&["password = \"§\""], "ab\\\"cd12", "password");
}

#[test]
fn aws_secrets_are_found_beside_their_name() {
    let forms = ["AWS_SECRET_ACCESS_KEY=§", "aws_secret_key: §", "\"SecretAccessKey\": \"§\""];
    check_each(&forms, &(fake(ALNUM, 20) + "/" + &fake(BASE64, 19)), "aws-secret-key");
}

#[test]
fn authorization_headers_keep_their_scheme() {
    let forms = ["Authorization: Bearer §", "-H 'authorization: bearer §'", "{\"Authorization\": \"Bearer §\"}"];
    check_each(&forms, &fake(ALNUM, 12), "bearer-token");
    check_each(&["> sent Bearer § to it", "Authorization: token §"], &fake(ALNUM, 32), "bearer-token");
    check_each(&["Authorization: Basic §", "Proxy-Authorization: Basic §\r\n"], "dXNlcjpnZWhlaW0=", "basic-auth");
    let token = format!("gh{}_{}", "s", fake(ALNUM, 36));
    check_each(&["Authorization: Bearer §", "GITHUB_TOKEN=§", "https://x:§@host"], &token, "github-app-token");
}

#[test]
fn only_the_password_of_an_address_is_removed() {
    let forms = [
        "postgres://me:§@db.internal:5432/app",
        "DATABASE_URL=\"mysql://me:§@localhost/app\"",
        "redis://:§@cache:6379",
        "git clone https://me:§@host/repo.git",
    ];
    check_each(&forms, "geheim", "url-password");
    check_each(&forms, "p@ss:w0rd", "url-password");
    check_each(&forms, "Canon-eos5", "url-password");
    check_each(&["https://canonical:§@host/"], "geheim", "url-password");
}

#[test]
fn passwords_given_to_curl_are_found() {
    check_each(&["curl -s -u me:§ https://host", "curl --user \"me:§\" host"], "geheim", "curl-password");
}

#[test]
fn the_inside_of_private_keys_is_removed() {
    let lines = format!("{}\n{}\nQ9xB4t==", fake(BASE64, 64), fake(BASE64, 64));
    for label in ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"] {
        let pem = format!("-----BEGIN {label}-----\n§\n-----END {label}-----\n");
        check_each(&[&pem], &lines, "private-key");
        let json = format!("{{\"private_key\": \"{}\"}}", pem.replace('\n', "\\n"));
        check_each(&[&json], &lines.replace('\n', "\\n"), "private-key");
    }
    let begin = "-----BEGIN RSA PRIVATE KEY-----";
    let with_headers = format!("Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{}\n\n{lines}", fake(HEX, 32));
    check_each(&[&format!("{begin}\n§\n-----END RSA PRIVATE KEY-----")], &with_headers, "private-key");
    let numbered = format!("2→{}\n     3→{}", fake(BASE64, 64), fake(BASE64, 64));
    check_each(&[&format!("     1→{begin}\n     §\n     4→-----END RSA PRIVATE KEY-----")], &numbered, "private-key");
    let cut_off = format!("{}\n{}", fake(BASE64, 64), fake(BASE64, 40));
    check_each(&[&format!("{begin}\n§"), &format!("{begin}\n§\nand other text\n")], &cut_off, "private-key");
}

#[test]
fn only_a_jwt_is_found_over_several_lines() {
    let lines = |first: &str| format!("{first}\n{}\n{}", fake(ALNUM, 64), fake(ALNUM, 40));
    // Base64 of any other JSON.
    let other = lines(&format!("eyJ{}", fake(ALNUM, 61)));
    check(&other, &other);
    // What follows a token on the next line is not part of it.
    let token = format!("ey{}{}.eyJ{}.{}", "J", fake(ALNUM, 33), fake(ALNUM, 70), fake(ALNUM, 43));
    check(&format!("{token}\ndone"), "[redacted:jwt]\ndone");
    check(&format!("{token}\n{}", fake(HEX, 40)), &format!("[redacted:jwt]\n{}", fake(HEX, 40)));
    let [first, second] = [61, 40].map(|length| fake(ALNUM, length));
    let wrapped = format!("ey{}{first}\n{}.eyJ{second}\na1.{}", "J", fake(ALNUM, 20), fake(ALNUM, 43));
    check(&format!("> {wrapped}\n\nand so on\n"), "> [redacted:jwt]\n\nand so on\n");
    check(&format!("{wrapped}\r\nIt is"), "[redacted:jwt]\r\nIt is");
}

#[test]
fn members_of_a_jwk_are_secret_only_in_one() {
    let value = fake(ALNUM, 43);
    let forms = [r#"{"kty":"OKP","crv":"Ed25519","d":"§","x":"public"}"#, r#"[{"d" : "§", "kty" : "EC"}]"#];
    check_each(&forms, &value, "private-key");
    for text in [
        format!(r#"{{"d":"{value}","p":"{value}","k":"{value}"}}"#),
        format!(r#"{{"kty":"EC","x":"{value}","y":"{value}"}}"#),
        format!(r#"{{"key":{{"kty":"EC"}},"d":"{value}"}}"#),
        r#"{"kty":"EC","d":"short","k":"a sentence about the kty of a key"}"#.to_owned(),
    ] {
        check(&text, &text);
    }
}

#[test]
fn values_in_a_file_of_cookies_are_found() {
    let forms = [
        ".host.net\tTRUE\t/\tTRUE\t1893456000\tsession\t§",
        "# Netscape HTTP Cookie File\n#HttpOnly_host.net\tFALSE\t/app\tFALSE\t0\tsid\t§\r\nhost.net\tFALSE\t/\tFALSE\t0\ttheme\tdark\n",
    ];
    check_each(&forms, &fake(ALNUM, 32), "cookie");
    let value = fake(ALNUM, 32);
    for text in [
        format!("name\tTRUE\t{value}\n"),
        format!("host.net\tTRUE\t/\tTRUE\tnever\tsid\t{value}\n"),
        format!("host.net\tTRUE\t/\tTRUE\t0\tsid\t{value}\tmore\n"),
        format!("id\thost.net\tTRUE\t/\tTRUE\t0\tsid\t{value}\n"),
    ] {
        check(&text, &text);
    }
}

#[test]
fn what_is_private_is_removed_with_its_tags() {
    check("a <private>b</private> c", "a [redacted:private] c");
    check("a <PRIVATE>b\nc</Private > d", "a [redacted:private] d");
    check("<private>a</private><private>b</private>", "[redacted:private][redacted:private]");
    check("a <private>b <private>c</private> d</private> e", "a [redacted:private] e");
    check("a <private>b and no end", "a [redacted:private]");
    check("a <private>b <private>c</private> d", "a [redacted:private]");
    check("word<private>b</private> c", "word[redacted:private] c");
    check("<private>password=\"hunter2\"</private>", "[redacted:private]");
}

#[test]
fn what_is_no_secret_stays() {
    let texts = include_str!("untouched.txt").replace('§', &fake(ALNUM, 28)).replace('¤', &fake(HEX, 40));
    for text in texts.lines().filter(|line| !line.is_empty()) {
        check(text, text);
    }
    check(&texts, &texts);
}

#[test]
fn placeholders_for_tokens_stay() {
    for body in ["x".repeat(36), "X".repeat(36), format!("your_token_{}", "0".repeat(36)), "*".repeat(36)] {
        let text = format!("GITHUB_TOKEN=gh{}_{body}", "p");
        check(&text, &text);
    }
    let text = format!("xo{}-not-a-real-token-and-it-will-not-work", "xb");
    check(&text, &text);
    let text = format!("AK{}IOSFODNN7EXAMPLE", "IA");
    check(&text, &text);
}

#[test]
fn overlapping_findings_become_one() {
    let token = format!("gh{}_{}", "p", fake(ALNUM, 36));
    check(&format!("secret=\"{token}-{token}\""), "secret=\"[redacted:generic-secret]\"");
}

#[test]
fn a_finding_farther_on_hides_nothing_before_it() {
    let token = format!("gh{}_{}", "p", fake(ALNUM, 36));
    let mark = "[redacted:github-pat]";
    check(&format!("curl -u {token}.{token}.:geheim"), &format!("curl -u {mark}.{mark}.:[redacted:curl-password]"));
}

#[test]
fn marks_are_left_alone_and_hide_nothing_else() {
    check(
        "password=[redacted:password] and [redacted:private-key]",
        "password=[redacted:password] and [redacted:private-key]",
    );
    let secret = fake(ALNUM, 24);
    let text = "a=[redacted:jwt]\ntoken=§ [redacted:jwt] token=§ [redacted:jwt] TOKEN=§\n";
    check_each(&[text], &secret, "generic-secret");
}

#[test]
fn findings_point_into_the_original() {
    let text = b"\xff password=\"hunter2\" \xfe <private>x";
    let redacted = redact(text);
    let found: Vec<_> =
        redacted.found.iter().map(|finding| (finding.rule, &text[finding.start..finding.end])).collect();
    assert_eq!(found, [("password", b"hunter2".as_slice()), ("private", b"<private>x")]);
    assert_eq!(
        redacted.text,
        Cow::Borrowed(b"\xff password=\"[redacted:password]\" \xfe [redacted:private]".as_slice())
    );
}
