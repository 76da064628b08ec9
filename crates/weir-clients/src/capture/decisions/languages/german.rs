//! German.

use super::{Language, Phrases};

pub(super) const GERMAN: Language = Language {
    fillers: Phrases("ok | okay | gut | also | ja | dann | und | aber | bitte | na | super | danke | genau | nein,"),
    undecided: Phrases(
        "wenn | falls | vielleicht | soll | sollen | sollten | sollte | könnte | könnten | kannst | können | würde | was \
         | wie | warum | wieso | wann | wo | wer | welche | welcher | welches | ob | hast | haben wir | …nicht sicher… | \
         …weiß nicht… | …ob wir… | …keine sorge… | …kein problem… | mach dir | immer wenn | immer noch | nie gesehen",
    ),
    rejected: Phrases(
        "wir verwenden kein | wir verwenden keine | wir verwenden keinen | wir nehmen kein | wir nehmen keine | wir \
         nehmen keinen | wir nutzen kein | wir nutzen keine | lass uns … nicht | lasst uns … nicht | wir verzichten auf \
         | …verwerfen wir… | wir verwerfen | wir haben uns gegen",
    ),
    corrected: Phrases(
        "das ist falsch | das stimmt nicht | das war nicht | so war das nicht | ich meinte | ich habe gesagt | mach das \
         rückgängig | nicht | kein | keine | keinen | niemals | nie | auf keinen fall | hör auf | verwende kein | verwende \
         keine | verwende nicht | benutze kein | benutze keine | nimm kein | nimm keine | nimm nicht | füge … keine | füge \
         … nicht | ändere … nicht | fass … nicht an | lösche … nicht",
    ),
    decided: Phrases(
        "wir nehmen | nehmen wir | wir verwenden | verwenden wir | wir nutzen | wir benutzen | wir bleiben bei | bleiben \
         wir bei | es bleibt bei | wir haben uns … entschieden | wir haben entschieden | wir haben beschlossen | ich habe \
         mich … entschieden | entscheidung: | ab jetzt | ab sofort | von nun an | künftig | in zukunft | immer | lass uns \
         … nehmen | lass uns … verwenden | lass uns … nutzen | lass uns … behalten | lass uns … entfernen | lass uns … \
         bleiben | lass uns … umbenennen | nimm … statt | verwende … statt | statt … nehmen wir | ich bevorzuge",
    ),
};
