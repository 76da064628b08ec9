//! Spanish.

use super::{Language, Phrases};

pub(super) const SPANISH: Language = Language {
    fillers: Phrases(
        "ok | vale | bueno | bien | sí | entonces | pues | y | pero | por favor | perfecto | gracias | no,",
    ),
    undecided: Phrases(
        "si | quizá | quizás | tal vez | a lo mejor | ¿ | deberíamos | debería | podríamos | podrías | puedes | qué | cómo \
         | por qué | cuándo | dónde | quién | cuál | …no estoy seguro… | …no estoy segura… | …no sé… | …me pregunto… | no te \
         preocupes | no se preocupe | no pasa nada | no hay problema | nunca he visto | nunca había | siempre que",
    ),
    rejected: Phrases(
        "no vamos a usar | no vamos a utilizar | no usaremos | no usemos | no utilizaremos | descartamos | hemos \
         descartado | abandonamos | renunciamos a | dejamos de usar | ya no usamos",
    ),
    corrected: Phrases(
        "eso está mal | eso es incorrecto | eso no es | no es lo que | quería decir | me refería a | dije | deshaz | no \
         uses | no utilices | no cambies | no toques | no añadas | no agregues | no borres | no elimines | no hagas | no \
         modifiques | no olvides | nunca | jamás | deja de | en ningún caso",
    ),
    decided: Phrases(
        "vamos a usar | vamos a utilizar | usaremos | utilizaremos | usemos | utilicemos | nos quedamos con | quedémonos \
         con | vamos con | optamos por | decidimos | hemos decidido | he decidido | decidí | decisión: | a partir de ahora \
         | de ahora en adelante | en adelante | siempre | prefiero | usa … en lugar de | usa … en vez de | usa siempre | \
         mantengamos | mantenemos | eliminemos | renombremos | cambiemos a | elegimos",
    ),
};
