//! Portuguese.

use super::{Language, Phrases};

pub(super) const PORTUGUESE: Language = Language {
    fillers: Phrases(
        "ok | certo | bom | bem | sim | então | e | mas | por favor | perfeito | obrigado | obrigada | não,",
    ),
    undecided: Phrases(
        "se | talvez | será que | devemos | deveríamos | poderíamos | podemos | você pode | pode | o que | que | como | \
         por que | quando | onde | quem | qual | …não tenho certeza… | …não sei… | …me pergunto… | não se preocupe | não \
         tem problema | sem problema | nunca vi | nunca tinha | sempre que",
    ),
    rejected: Phrases(
        "não vamos usar | não vamos utilizar | não usaremos | descartamos | desistimos de | abandonamos | deixamos de usar \
         | já não usamos",
    ),
    corrected: Phrases(
        "isso está errado | está errado | isso não é | não é o que | não foi o que | eu quis dizer | quis dizer | eu disse \
         | desfaça | não use | não utilize | não altere | não mude | não toque | não adicione | não apague | não remova | \
         não faça | não mexa | não esqueça | nunca | jamais | pare de | de jeito nenhum",
    ),
    decided: Phrases(
        "vamos usar | vamos utilizar | usaremos | utilizaremos | vamos ficar com | ficamos com | vamos com | optamos por | \
         decidimos | decidi | decisão: | a partir de agora | de agora em diante | daqui em diante | sempre | prefiro | use … \
         em vez de | use … ao invés de | use sempre | vamos manter | mantemos | vamos remover | vamos renomear | vamos \
         trocar para | escolhemos",
    ),
};
