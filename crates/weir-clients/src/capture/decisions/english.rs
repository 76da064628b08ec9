//! The English phrases that sentences are searched for, in lower case.

use super::Phrases;

/// Beginnings of sentences that ask, suppose or quote.
pub(super) const UNSURE: Phrases = Phrases(
    "if | should | could | would | can | shall | what | how | why | when | where | who | which | whether | maybe | \
     perhaps | do you | does | did | is | are | have we | unless | suppose | imagine | in case",
);

/// Beginnings of questions, whether or not a question mark follows.
pub(super) const ASKING: Phrases = Phrases(
    "what | how | why | when | where | who | which | is | are | does | did | was | were | do you | do we | do i | do \
     they | should we | should it | should i | would it | could it | have you | have we | has it | will it | will this",
);

/// Phrases that leave a sentence undecided wherever they occur.
pub(super) const DOUBT: Phrases =
    Phrases("not sure | haven't decided | have not decided | not decided | wonder | what if | whether we | whether to");

/// Filler words at the beginning of a sentence.
pub(super) const FILLERS: Phrases = Phrases(
    "ok | okay | so | well | and | but | hmm | actually | please | right | yes | yeah | also | then | alright | great \
     | good | thanks | sorry | oh | hi | hello | hey | btw | note | wait | ah | yep | cool",
);

/// Words that name nothing by themselves.
pub(super) const EMPTY: Phrases = Phrases(
    "it | that | this | these | those | them | one | both | all | option | options | approach | plan | going | on | in \
     | as | is | sure | now | first | then | next | again | the | an | to | for | too | here | and | so | way | please \
     | ahead | with | instead | only | second | third | latter | former | yes | ok | of | do | go | be | working | \
     moving | simple | entirely | completely | 10 | 11 | 12",
);

/// Beginnings of a goal.
pub(super) const GOAL: Phrases = Phrases(
    "the goal is | our goal is | my goal is | the goal of | goal: | goals: | the aim is | our aim is | the objective \
     is | the end goal is | the overall goal is | the point is to | we want to end up with | i want to end up with | \
     what i want to achieve is | what we want is",
);

/// Beginnings of what blocks people, as opposed to requests or processes.
pub(super) const BLOCKED: Phrases = Phrases(
    "i'm blocked | i am blocked | we're blocked | we are blocked | blocked by | blocked on | blocker: | this is \
     blocked by | this is blocked on | it's blocked by | it's blocked on | i'm stuck on | we're stuck on | i can't \
     continue until | we can't continue until | i can't proceed | we can't proceed | we cannot proceed | i'm waiting \
     for | we're waiting for | i'm waiting on | we're waiting on | we are waiting for",
);

/// Beginnings of an attempt; it was given up if the sentence also has one of [`FAILED`].
pub(super) const TRIED: Phrases =
    Phrases("i tried | we tried | i've tried | we've tried | i already tried | we already tried | i have tried");

/// Words that say that an attempt failed.
pub(super) const FAILED: Phrases =
    Phrases("but | didn't | doesn't | did not | does not | failed | fails | without success | no luck");

/// Phrases that say, anywhere in a sentence, that something was given up.
pub(super) const DROPPED: Phrases =
    Phrases("gave up on | ruled out | decided against | we won't use | we will not use | not going to use");

/// Beginnings of a decision against something, if it follows.
pub(super) const AGAINST: Phrases = Phrases(
    "let's not use | lets not use | let's not do | let's not go with | let's drop | let's abandon | let's scrap | we \
     will not | we won't | we are not going to | we're not going to",
);

/// Beginnings of a correction.
pub(super) const WRONG: Phrases = Phrases(
    "that's wrong | that is wrong | this is wrong | that's not right | that's not what i | that is not what i | this \
     is not what i | that's incorrect | that is incorrect | you misunderstood | you got it wrong | wrong file | wrong \
     branch | i meant | i said | i told you | as i said | i asked you | i asked for | you shouldn't have | you should \
     not have | undo that | revert that | undo this | revert this | stop using | stop adding | stop doing | stop \
     changing | stop writing | stop making | stop running | please stop",
);

/// Beginnings that forbid what follows, unless it is one of [`CALM`] or [`WAS`].
pub(super) const FORBIDS: Phrases = Phrases("don't | do not | dont | never | you must not | you mustn't");

/// Words after "don't" that forbid nothing.
pub(super) const CALM: Phrases = Phrases(
    "worry | bother | mind | hesitate | panic | get me wrong | know | think | care | understand | see | remember | \
     have | need | want | feel | you | we | forget | stop | ask me why | be shy | be afraid",
);

/// Words after "never" that describe the past: "never seen this", as opposed to "never push".
pub(super) const WAS: Phrases = Phrases("seen | had | been | got | heard | saw | ran | was | knew | thought | happens");

/// Words after "no," that agree.
pub(super) const AGREES: Phrases = Phrases(
    "that's fine | this is fine | that is fine | that's ok | that's okay | that's all | that's it | that's good | that's right | thanks | thank | \
     it's fine | it's ok | you're right | not yet | worries | problem | we're good | i'm good | go ahead",
);

/// Words after "no," that say what is meant instead.
pub(super) const MEANS: Phrases = Phrases(
    "don't | do not | use | i meant | i mean | i want | i said | that's | that is | it's | it should | it is | not | \
     the | keep | leave | put | only | we | you | this | instead | rather | just | please | let's | make | stop | \
     never | revert | undo | it must | it needs | they | there | remove | add",
);

/// Beginnings of a decision, if what was decided follows.
pub(super) const CHOSEN: Phrases = Phrases(
    "let's use | lets use | let's go with | lets go with | let's go for | let's stick with | let's stick to | let's \
     call it | let's name it | we'll use | we will use | we'll go with | we will go with | we're going with | we are \
     going with | we're going to use | we decided | we've decided | we have decided | i decided | i've decided | i \
     have decided | decision: | decided: | we agreed | we've agreed | we settled on | i've settled on | i'd go with | \
     i would go with | i'd go for | go with | go for | i'd rather use | we use | stick with | stick to | i chose | we \
     chose | we should always | we should only | we should never",
);

/// Beginnings with which the model says what it has decided itself.
pub(super) const DECIDED: Phrases = Phrases(
    "i decided | i've decided | i have decided | i chose | i've chosen | i opted for | i went with | i settled on | we \
     decided | we agreed | decision: | decided: | i ruled out | i decided against",
);

/// Adverbs between "let's" and what is to be done.
pub(super) const ADVERBS: Phrases =
    Phrases("completely | just | also | only | always | simply | rather | instead | actually | fully | not");

/// What is done to the thing that is made, after "let's". Other verbs say what is done next, and so does [`STEPS`].
pub(super) const CHANGES: Phrases = Phrases(
    "remove | keep | rename | hide | make | move | store | show | replace | limit | default | disable | enable | skip | \
     require | allow | avoid | leave | support | use | switch to | ignore | drop | abandon | get rid of | treat | set | \
     cap | deprecate | include",
);

/// Steps that begin like a change.
pub(super) const STEPS: Phrases = Phrases(
    "make sure | make a | make an | make some | keep going | keep working | keep on | keep an eye | move on | leave it \
     here | leave it at | set up | use this | use that | skip this | skip that",
);

/// Beginnings of a rule that holds from now on.
pub(super) const STANDING: Phrases = Phrases(
    "always | from now on | going forward | only use | make sure to always | i prefer | i'd prefer | i always want | \
     the rule is | rule: | remember that | remember to | keep in mind",
);

/// Words in a label in capitals that announce a rule.
pub(super) const RULES: Phrases = Phrases(
    "CONSTRAINT | CONSTRAINTS | RULE | RULES | REQUIREMENT | DECISION | IMPORTANT | MUST | POLICY | NEVER | ALWAYS | \
     INVARIANT | CONVENTION | PREFERENCE | CRITICAL",
);

/// Beginnings of a sentence that is a decision if it contains "instead of" or "rather than".
pub(super) const INSTEAD: Phrases = Phrases(
    "use | do | put | write | make | return | call | keep | add | run | read | store | take | pass | i want | i'd like \
     | we should | we want | it should",
);

/// Words between what is chosen and what is not.
pub(super) const IN_PLACE_OF: Phrases = Phrases("instead of | rather than");

/// Beginnings of a statement of work, unless one of [`ASKS`] follows.
pub(super) const WANTS: Phrases = Phrases(
    "i'm working on | i am working on | we're working on | we are working on | i'm trying to | i am trying to | we're \
     trying to | we are trying to | the task is | your task is | help me | i need you to | i want you to | i'd like \
     you to | i would like you to | i want to | i'd like to | we want to | we need to | i need to",
);

/// Words that ask for information and not for work.
pub(super) const ASKS: Phrases = Phrases("know | ask | understand | see | hear | say | thank | think | be");
