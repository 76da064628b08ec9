//! French.

use super::{Language, Phrases};

pub(super) const FRENCH: Language = Language {
    fillers: Phrases(
        "ok | okay | bon | bien | oui | alors | donc | et | mais | d'accord | super | merci | parfait | non,",
    ),
    undecided: Phrases(
        "si | peut-être | est-ce | faut-il | devrait | devrions | pourrait | pourrions | peux-tu | pouvez-vous | que | \
         qu'est-ce | comment | pourquoi | quand | où | qui | quel | quelle | …pas sûr… | …pas sûre… | …je ne sais pas… | \
         …je me demande… | ne t'inquiète | ne vous inquiétez | ne t'en fais | pas de problème | pas de souci | pas grave | \
         jamais vu | toujours pas | toujours la même",
    ),
    rejected: Phrases(
        "on n'utilise pas | on n'utilisera pas | n'utilisons pas | on ne va pas | nous n'utiliserons pas | nous \
         n'utilisons pas | on abandonne | abandonnons | on laisse tomber | on renonce",
    ),
    corrected: Phrases(
        "c'est faux | ce n'est pas | c'est pas ce que | je voulais dire | j'ai dit | annule | ne … pas | n'utilise pas | \
         n'utilisez pas | n'ajoute pas | n'ajoutez pas | n'oublie pas | n'oubliez pas | jamais | pas de | arrête de | \
         arrêtez de | ne … jamais | ne … plus",
    ),
    decided: Phrases(
        "on va utiliser | nous allons utiliser | on utilisera | nous utiliserons | utilisons | on garde | gardons | nous \
         gardons | on reste sur | restons sur | on part sur | partons sur | on part avec | on passe à | passons à | on a \
         décidé | nous avons décidé | j'ai décidé | décision : | décision: | désormais | dorénavant | à partir de \
         maintenant | toujours | il faut toujours | je préfère | utilise … au lieu | utilise … plutôt | supprimons \
         | on supprime | renommons | on renomme | on choisit | choisissons",
    ),
};
