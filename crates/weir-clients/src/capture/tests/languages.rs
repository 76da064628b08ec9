//! Decisions and corrections in languages other than English: what is found, and what is nearly one.

use weir_core::EventKind;

use super::prompt;
use crate::capture::events;

/// Checks that each sentence is of a kind, and that none of the near misses is of any.
fn check(found: &[(&str, EventKind)], missed: &[&str]) {
    let kinds =
        |text: &str| -> Vec<EventKind> { events(&prompt(text)).into_iter().skip(1).map(|event| event.kind).collect() };
    for (text, kind) in found {
        assert_eq!(kinds(text), [*kind], "{text}");
    }
    for text in missed {
        assert_eq!(kinds(text), [], "{text}");
    }
}

const DECISION: EventKind = EventKind::Decision;
const CORRECTION: EventKind = EventKind::Correction;
const REJECTED: EventKind = EventKind::Rejected;

#[test]
fn german() {
    check(
        &[
            ("Wir nehmen SQLite für den Speicher.", DECISION),
            ("OK, dann lass uns die alte Schnittstelle behalten.", DECISION),
            ("Ab jetzt nach jedem Schritt committen.", DECISION),
            ("Wir haben uns für Variante B entschieden.", DECISION),
            ("Nimm lieber Tabs statt Leerzeichen.", DECISION),
            ("Bitte immer zuerst die Tests schreiben.", DECISION),
            ("Wir verwenden keine globalen Variablen.", REJECTED),
            ("Das ist falsch, es geht um die andere Datei.", CORRECTION),
            ("Bitte keine neuen Abhängigkeiten.", CORRECTION),
            ("Ändere die öffentliche Schnittstelle nicht.", CORRECTION),
        ],
        &[
            "Sollen wir SQLite oder Postgres nehmen?",
            "Wenn wir SQLite nehmen, wird es langsamer.",
            "Vielleicht nehmen wir später Redis.",
            "Keine Sorge, das passt so.",
            "Ich bin nicht sicher, ob wir das brauchen.",
            "Kein Problem, mach weiter.",
            "Der Test schlägt immer noch fehl.",
            "Warum verwenden wir hier eine Liste?",
            "Danke, das sieht gut aus.",
            "Immer wenn ich speichere, stürzt es ab.",
        ],
    );
}

#[test]
fn french() {
    check(
        &[
            ("On va utiliser SQLite pour le stockage.", DECISION),
            ("Bon, on garde l'ancienne interface.", DECISION),
            ("Désormais, fais un commit après chaque étape.", DECISION),
            ("Nous avons décidé de supprimer Python 2.", DECISION),
            ("Utilise des tabulations au lieu des espaces.", DECISION),
            ("Je préfère une fonction par fichier.", DECISION),
            ("On n'utilise pas de variables globales.", REJECTED),
            ("Ne touche pas à l'API publique.", CORRECTION),
            ("Ce n'est pas ce que j'ai demandé.", CORRECTION),
            ("Jamais de push sur main.", CORRECTION),
        ],
        &[
            "Est-ce qu'on utilise SQLite ou Postgres ?",
            "Si on garde l'ancienne interface, ça casse.",
            "Peut-être qu'on utilisera Redis plus tard.",
            "Ne t'inquiète pas pour les tests.",
            "Pas de problème, continue.",
            "Je ne suis pas sûr que ce soit utile.",
            "Pourquoi on a décidé de faire ça ?",
            "Le test échoue toujours.",
            "Merci, ça marche.",
            "Jamais vu ça avant.",
        ],
    );
}

#[test]
fn spanish() {
    check(
        &[
            ("Vamos a usar SQLite para el almacenamiento.", DECISION),
            ("Vale, nos quedamos con la interfaz antigua.", DECISION),
            ("A partir de ahora, haz un commit después de cada paso.", DECISION),
            ("Hemos decidido quitar Python 2.", DECISION),
            ("Usa tabuladores en lugar de espacios.", DECISION),
            ("Siempre escribe primero las pruebas.", DECISION),
            ("No vamos a usar variables globales.", REJECTED),
            ("No toques la API pública.", CORRECTION),
            ("Eso está mal, me refería al otro archivo.", CORRECTION),
            ("Nunca hagas push a main.", CORRECTION),
        ],
        &[
            "¿Usamos SQLite o Postgres?",
            "Si nos quedamos con esa interfaz, se rompe.",
            "Quizás usaremos Redis más tarde.",
            "No te preocupes por las pruebas.",
            "No hay problema, sigue.",
            "No estoy seguro de que haga falta.",
            "Siempre que guardo, se cierra.",
            "La prueba sigue fallando.",
            "Gracias, funciona.",
            "Nunca he visto este error.",
        ],
    );
}

#[test]
fn portuguese() {
    check(
        &[
            ("Vamos usar SQLite para o armazenamento.", DECISION),
            ("Certo, vamos manter a interface antiga.", DECISION),
            ("A partir de agora, faça um commit depois de cada passo.", DECISION),
            ("Decidimos remover o Python 2.", DECISION),
            ("Use tabulações em vez de espaços.", DECISION),
            ("Sempre escreva os testes primeiro.", DECISION),
            ("Não vamos usar variáveis globais.", REJECTED),
            ("Não mexa na API pública.", CORRECTION),
            ("Isso está errado, eu quis dizer o outro arquivo.", CORRECTION),
            ("Nunca faça push para main.", CORRECTION),
        ],
        &[
            "Vamos usar SQLite ou Postgres?",
            "Se mantivermos essa interface, quebra.",
            "Talvez vamos usar Redis depois.",
            "Não se preocupe com os testes.",
            "Sem problema, continue.",
            "Não tenho certeza se precisamos disso.",
            "Sempre que eu salvo, ele fecha.",
            "O teste continua falhando.",
            "Obrigado, funciona.",
            "Nunca vi esse erro antes.",
        ],
    );
}

#[test]
fn chinese() {
    check(
        &[
            ("我们决定用 SQLite 做存储。", DECISION),
            ("好的，就用方案 B 的接口。", DECISION),
            ("以后都先写测试。", DECISION),
            ("改用制表符缩进。", DECISION),
            ("从现在开始每一步都提交。", DECISION),
            ("統一使用舊的介面。", DECISION),
            ("我们不用全局变量。", REJECTED),
            ("不要改公共接口。", CORRECTION),
            ("不对，我说的是另一个文件。", CORRECTION),
            ("别推送到 main 分支。", CORRECTION),
        ],
        &[
            "我们用 SQLite 还是 Postgres？", "我们用 SQLite 可以吗", "如果改用 SQLite，会变慢。",
            "也许以后会用 Redis。", "不要担心测试。", "没关系，继续。", "我不确定我们需要这个。", "测试还是失败。",
            "谢谢，可以了。", "为什么我们用列表？",
        ],
    );
}

#[test]
fn japanese() {
    check(
        &[
            ("保存には SQLite を使いましょう。", DECISION),
            ("では、方式 B にします。", DECISION),
            ("今後は必ず先にテストを書いてください。", DECISION),
            ("Python 2 は外すことにしました。", DECISION),
            ("古いインターフェースのままにしましょう。", DECISION),
            ("インデントはタブに統一します。", DECISION),
            ("グローバル変数を使うのはやめましょう。", REJECTED),
            ("公開 API は変更しないでください。", CORRECTION),
            ("違います、別のファイルです。", CORRECTION),
            ("main に直接プッシュしてはいけません。", CORRECTION),
        ],
        &[
            "SQLite を使いましょうか？",
            "SQLite にしますか",
            "もし SQLite を使うなら遅くなります。",
            "たぶん後で Redis にします。",
            "テストは気にしないでください。",
            "必要かどうかわかりません。",
            "テストがまだ失敗します。",
            "ありがとうございます、動きました。",
            "なぜリストにしましたか？",
            "心配しないでください。",
        ],
    );
}
